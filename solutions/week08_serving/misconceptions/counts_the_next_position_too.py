"""Counts one position more than there are.

Exercise: cache_bytes
Believes: The next token needs its place as well.
Shows: An empty cache is not 0.
Hint: Compare the bytes of `length` positions with a cache of 0 positions.
Rejected by: test_empty_cache
Costs: 30 %
"""


def cache_bytes(n_layers, n_kv_heads, d, length, batch=1, dtype=torch.float16):
    return 2 * n_layers * batch * n_kv_heads * (length + 1) * d * dtype.itemsize
