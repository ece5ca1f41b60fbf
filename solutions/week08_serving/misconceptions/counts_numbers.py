"""Counts the numbers, whatever their dtype.

Exercise: cache_bytes
Believes: The size of a cache is how many numbers are in it.
Shows: Too small by the bytes of one number.
Hint: How many numbers is right. What does one of them take in memory?
Rejected by: test_a_model
Costs: 35 %
"""


def cache_bytes(n_layers, n_kv_heads, d, length, batch=1, dtype=torch.float16):
    return 2 * n_layers * batch * n_kv_heads * length * d
