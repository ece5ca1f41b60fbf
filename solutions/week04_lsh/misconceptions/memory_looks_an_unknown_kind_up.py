"""Raises a KeyError for an unknown kind.

Exercise: attention_memory
Believes: an error is an error.
Shows: right for both kinds; a misspelt kind raises KeyError instead of ValueError.
Hint: Which error does the Raises section of the docstring promise, and what should its message say?
Rejected by: test_refuses_an_unknown_kind
Costs: 15 %
"""


def attention_memory(seq_len, kind="full", bucket_size=64, n_hashes=1, bytes_per_element=4):
    scores = {"full": seq_len * seq_len, "lsh": n_hashes * seq_len * 2 * bucket_size}
    return scores[kind] * bytes_per_element
