"""Computes with floats and rounds at the end.

Exercise: cache_bytes
Believes: A float can represent any number of bytes.
Shows: Large results are off by a few bytes.
Hint: A float64 has 53 significant bits. Is there a division in your formula that needs to be one?
Rejected by: test_exact
Costs: 20 %
"""


def cache_bytes(n_layers, n_kv_heads, d, length, batch=1, dtype=torch.float16):
    return int(2.0 * n_layers * batch * n_kv_heads * length * d * dtype.itemsize)
