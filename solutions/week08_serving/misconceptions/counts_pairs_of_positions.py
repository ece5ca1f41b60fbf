"""Counts length times length, as for the table of scores.

Exercise: cache_bytes
Believes: Attention's memory is quadratic in the length.
Shows: Far too large, the more so the longer the text.
Hint: The table of scores has an entry per pair of positions. What has the cache one entry for?
Rejected by: test_a_model
Costs: 45 %
"""


def cache_bytes(n_layers, n_kv_heads, d, length, batch=1, dtype=torch.float16):
    return 2 * n_layers * batch * n_kv_heads * length * length * d * dtype.itemsize
