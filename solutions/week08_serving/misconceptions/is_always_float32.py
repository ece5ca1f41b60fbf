"""Ignores the dtype that was asked for.

Exercise: KVCache
Believes: torch.zeros chooses a fine dtype.
Shows: float32 comes back from a float16 cache, which also takes twice the memory.
Hint: What is the argument `dtype` for? Half the bytes is the reason why caches are float16.
Rejected by: test_dtype_of_the_cache
Costs: 25 %
"""


class KVCache(KVCache):
    def __init__(self, batch, n_kv_heads, max_len, d, dtype=torch.float32, device=None):
        super().__init__(batch, n_kv_heads, max_len, d, device=device)
