"""Takes the n log n of the paper for the number of scores.

Exercise: attention_memory
Believes: O(n log n) is a formula for the memory.
Shows: LSH memory follows n log2 n and ignores the chunk size.
Hint: Big-O leaves constants out, and the logarithm belongs to the sort. Count the scores that one
    query makes instead.
Rejected by: test_lsh_counts_both_chunks_of_every_round
Costs: 40 %
"""

import math


def attention_memory(seq_len, kind="full", bucket_size=64, n_hashes=1, bytes_per_element=4):
    if kind == "full":
        return seq_len * seq_len * bytes_per_element
    if kind == "lsh":
        return int(n_hashes * seq_len * math.log2(seq_len)) * bytes_per_element
    raise ValueError(f"kind must be 'full' or 'lsh', not {kind!r}")
