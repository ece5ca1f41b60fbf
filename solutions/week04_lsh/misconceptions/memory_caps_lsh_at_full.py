"""Lets LSH attention never count more scores than full attention.

Exercise: attention_memory
Believes: LSH attention cannot be worse than full attention.
Shows: Right for long sequences; for short ones the LSH answer equals the full one.
Hint: For short sequences the windows of all rounds together really are larger than the square.
    Where do the curves cross?
Rejected by: test_lsh_can_cost_more_than_full
Costs: 25 %
"""


def attention_memory(seq_len, kind="full", bucket_size=64, n_hashes=1, bytes_per_element=4):
    if kind == "full":
        return seq_len * seq_len * bytes_per_element
    if kind == "lsh":
        return min(n_hashes * seq_len * 2 * bucket_size, seq_len * seq_len) * bytes_per_element
    raise ValueError(f"kind must be 'full' or 'lsh', not {kind!r}")
