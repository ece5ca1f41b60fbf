"""Counts bits.

Exercise: cache_bytes
Believes: float16 means 16 for each number.
Shows: Eight times the right number.
Hint: The name of a dtype counts bits. How many of them make a byte?
Rejected by: test_a_model
Costs: 35 %
"""


def cache_bytes(n_layers, n_kv_heads, d, length, batch=1, dtype=torch.float16):
    return 2 * n_layers * batch * n_kv_heads * length * d * dtype.itemsize * 8
