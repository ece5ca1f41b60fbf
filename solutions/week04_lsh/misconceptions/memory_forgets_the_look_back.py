"""Counts one chunk of keys for each query of LSH attention.

Exercise: attention_memory
Believes: A query is compared with the chunk it sits in and nothing else.
Shows: LSH memory is half of what it should be; full attention is right.
Hint: Draw one query and the chunks it may look at. How many keys are there in all?
Rejected by: test_lsh_counts_both_chunks_of_every_round
Costs: 30 %
"""


def attention_memory(seq_len, kind="full", bucket_size=64, n_hashes=1, bytes_per_element=4):
    if kind == "full":
        return seq_len * seq_len * bytes_per_element
    if kind == "lsh":
        return n_hashes * seq_len * bucket_size * bytes_per_element
    raise ValueError(f"kind must be 'full' or 'lsh', not {kind!r}")
