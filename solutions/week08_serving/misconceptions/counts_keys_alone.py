"""Counts the keys and forgets the values.

Exercise: cache_bytes
Believes: The cache is there so that keys need not be computed again.
Shows: Half of the right number.
Hint: What does a new query need of every earlier position, in addition to its key?
Rejected by: test_a_model
Costs: 40 %
"""


def cache_bytes(n_layers, n_kv_heads, d, length, batch=1, dtype=torch.float16):
    return n_layers * batch * n_kv_heads * length * d * dtype.itemsize
