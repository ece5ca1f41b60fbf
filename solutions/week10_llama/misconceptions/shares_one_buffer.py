"""Returns the same cache for every layer.

Exercise: Llama
Believes: [cache] * n makes n caches.
Shows: All layers append to one cache.
Hint: Append to the first cache. How long is the second?
Rejected by: test_own_caches
Costs: 30 %
"""

class Llama(Llama):
    def new_caches(self, batch, max_len):
        kv_heads, d = self.cache_shape
        weight = self.embed.weight
        cache = KVCache(batch, kv_heads, max_len, d, dtype=weight.dtype, device=weight.device)
        return [cache] * len(self.blocks)
