"""Counts only the pairs on and below the diagonal for full attention.

Exercise: attention_memory
Believes: A causal mask saves half of the table.
Shows: Full memory is about half of what it should be.
Hint: A mask hides scores; are they computed and stored all the same?
Rejected by: test_full_counts_every_pair
Costs: 30 %
"""


def attention_memory(seq_len, kind="full", bucket_size=64, n_hashes=1, bytes_per_element=4):
    if kind == "full":
        return seq_len * (seq_len + 1) // 2 * bytes_per_element
    if kind == "lsh":
        return n_hashes * seq_len * 2 * bucket_size * bytes_per_element
    raise ValueError(f"kind must be 'full' or 'lsh', not {kind!r}")
