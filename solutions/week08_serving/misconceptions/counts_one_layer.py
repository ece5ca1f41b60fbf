"""Counts the cache of a single layer.

Exercise: cache_bytes
Believes: There is one cache, which all layers use.
Shows: Too small by the number of layers.
Hint: Each layer computes keys from a different input. How many caches does a model need?
Rejected by: test_a_model
Costs: 40 %
"""


def cache_bytes(n_layers, n_kv_heads, d, length, batch=1, dtype=torch.float16):
    return 2 * batch * n_kv_heads * length * d * dtype.itemsize
