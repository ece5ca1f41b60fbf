"""Counts four bytes per score and ignores bytes_per_element.

Exercise: attention_memory
Believes: Scores are float32.
Shows: Right for the default, wrong for half or double precision.
Hint: What would the answer be for float16 scores? One of the arguments has not been used yet.
Rejected by: test_every_element_size
Costs: 20 %
"""


def attention_memory(seq_len, kind="full", bucket_size=64, n_hashes=1, bytes_per_element=4):
    if kind == "full":
        return seq_len * seq_len * 4
    if kind == "lsh":
        return n_hashes * seq_len * 2 * bucket_size * 4
    raise ValueError(f"kind must be 'full' or 'lsh', not {kind!r}")
