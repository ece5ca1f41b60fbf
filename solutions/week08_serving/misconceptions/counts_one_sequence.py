"""Leaves the batch out.

Exercise: cache_bytes
Believes: Sequences that are served together share a cache.
Shows: Right for a batch of one alone.
Hint: Two sequences have different keys at the same position. Where are they all kept?
Rejected by: test_batch
Costs: 35 %
"""


def cache_bytes(n_layers, n_kv_heads, d, length, batch=1, dtype=torch.float16):
    return 2 * n_layers * n_kv_heads * length * d * dtype.itemsize
