"""Raises no error for a kind of attention that it does not know.

Exercise: attention_memory
Believes: What is not full attention must be LSH attention.
Shows: A misspelt kind gets a plausible number instead of an error.
Hint: What should happen to a caller who writes "lhs"? The Raises section of the docstring says.
Rejected by: test_refuses_an_unknown_kind
Costs: 15 %
"""


def attention_memory(seq_len, kind="full", bucket_size=64, n_hashes=1, bytes_per_element=4):
    if kind == "full":
        return seq_len * seq_len * bytes_per_element
    return n_hashes * seq_len * 2 * bucket_size * bytes_per_element
