"""Ignores the requested dtype.

Exercise: KVCache
Believes: torch.zeros chooses a fine dtype.
Shows: a float16 cache returns float32, and takes twice the memory.
Hint: What is the argument `dtype` for? Caches are usually float16, because that halves their size.
Rejected by: test_dtype_of_the_cache
Costs: 25 %
"""


class KVCache(KVCache):
    def __init__(self, batch, n_kv_heads, max_len, d, dtype=torch.float32, device=None):
        super().__init__(batch, n_kv_heads, max_len, d, device=device)
