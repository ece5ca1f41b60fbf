"""Answers in gigabytes.

Exercise: attention_memory
Believes: Memory is always quoted in GB.
Shows: Every answer is a float, a billion times too small.
Hint: Read the Returns section of the docstring: which unit, and what kind of number?
Rejected by: test_full_counts_every_pair
Costs: 20 %
"""


def attention_memory(seq_len, kind="full", bucket_size=64, n_hashes=1, bytes_per_element=4):
    if kind == "full":
        return seq_len * seq_len * bytes_per_element / 1e9
    if kind == "lsh":
        return n_hashes * seq_len * 2 * bucket_size * bytes_per_element / 1e9
    raise ValueError(f"kind must be 'full' or 'lsh', not {kind!r}")
