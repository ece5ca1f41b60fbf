"""Knows the sizes of floats only, so integers are an error.

Exercise: cache_bytes
Believes: A cache always contains floats.
Shows: An error for int8.
Hint: Caches are quantised to int8 too. Which attribute of every dtype gives its size?
Rejected by: test_numbers_of_any_type
Costs: 20 %
"""


def cache_bytes(n_layers, n_kv_heads, d, length, batch=1, dtype=torch.float16):
    bits = torch.finfo(dtype).bits
    return 2 * n_layers * batch * n_kv_heads * length * d * bits // 8
