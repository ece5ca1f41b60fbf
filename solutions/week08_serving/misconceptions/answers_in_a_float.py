"""Returns a float.

Exercise: cache_bytes
Believes: Bits divided by 8 are bytes, so a number is a number.
Shows: 512.0 instead of 512.
Hint: `/` gives a float even where the result is whole. What type does the docstring name?
Rejected by: test_exact
Costs: 20 %
"""


def cache_bytes(n_layers, n_kv_heads, d, length, batch=1, dtype=torch.float16):
    return 2 * n_layers * batch * n_kv_heads * length * d * dtype.itemsize * 8 / 8
