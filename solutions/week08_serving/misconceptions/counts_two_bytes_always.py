"""Counts two bytes per number for any dtype.

Exercise: cache_bytes
Believes: Caches are stored in float16.
Shows: Right for 16-bit types, half of it for float32, double for int8.
Hint: How many bytes has one number of this dtype? A dtype knows its `itemsize`.
Rejected by: test_numbers_of_any_type
Costs: 35 %
"""


def cache_bytes(n_layers, n_kv_heads, d, length, batch=1, dtype=torch.float16):
    return 2 * n_layers * batch * n_kv_heads * length * d * 2
