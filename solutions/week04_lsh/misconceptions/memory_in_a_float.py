"""Answers with a float.

Exercise: attention_memory
Believes: a number is a number.
Shows: the right numbers, as floats.
Hint: Which type of number does `/` always return?
Rejected by: test_full_counts_every_pair
Costs: 15 %
"""

_whole_bytes = attention_memory


def attention_memory(seq_len, kind="full", bucket_size=64, n_hashes=1, bytes_per_element=4):
    return _whole_bytes(seq_len, kind, bucket_size, n_hashes, bytes_per_element) / 1
