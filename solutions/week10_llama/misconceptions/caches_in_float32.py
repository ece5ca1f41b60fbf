"""Makes float32 caches for every model.

Exercise: Llama
Believes: float32 is the default.
Shows: In half precision, keys from the cache do not fit the queries.
Hint: What is the dtype of your caches after model.half()?
Rejected by: test_new_caches
Costs: 20 %
"""

class Llama(Llama):
    def new_caches(self, batch, max_len):
        kv_heads, d = self.cache_shape
        weight = self.embed.weight
        return [
            KVCache(batch, kv_heads, max_len, d, device=weight.device)
            for _ in self.blocks
        ]
