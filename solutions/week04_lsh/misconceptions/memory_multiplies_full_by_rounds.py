"""Multiplies the memory of full attention by the number of hash rounds.

Exercise: attention_memory
Believes: n_hashes multiplies the scores of either kind.
Shows: Full attention appears to need more memory with more rounds, although it hashes nothing.
Hint: Which of the arguments does full attention use at all?
Rejected by: test_full_uses_no_buckets_and_no_rounds
Costs: 30 %
"""


def attention_memory(seq_len, kind="full", bucket_size=64, n_hashes=1, bytes_per_element=4):
    if kind == "full":
        return n_hashes * seq_len * seq_len * bytes_per_element
    if kind == "lsh":
        return n_hashes * seq_len * 2 * bucket_size * bytes_per_element
    raise ValueError(f"kind must be 'full' or 'lsh', not {kind!r}")
