"""Counts the scores of a single round of hashing, however many there are.

Exercise: attention_memory
Believes: The rounds reuse one table of scores.
Shows: LSH memory does not change with n_hashes.
Hint: Every round sorts again and keeps its own scores until the rounds are combined. What does
    doubling n_hashes do?
Rejected by: test_lsh_counts_both_chunks_of_every_round
Costs: 30 %
"""


def attention_memory(seq_len, kind="full", bucket_size=64, n_hashes=1, bytes_per_element=4):
    if kind == "full":
        return seq_len * seq_len * bytes_per_element
    if kind == "lsh":
        return seq_len * 2 * bucket_size * bytes_per_element
    raise ValueError(f"kind must be 'full' or 'lsh', not {kind!r}")
