"""Makes caches with a head for each query head.

Exercise: Llama
Believes: The cache needs a head per query head.
Shows: Keys do not fit the cache, or are stored several times.
Hint: How many heads do the keys have that are appended?
Rejected by: test_new_caches
Costs: 30 %
"""

class Llama(Llama):
    def new_caches(self, batch, max_len):
        kv_heads, d = self.cache_shape
        weight = self.embed.weight
        return [
            KVCache(batch, self.embed.embedding_dim // d, max_len, d, dtype=weight.dtype, device=weight.device)
            for _ in self.blocks
        ]
