"""Makes one cache too few.

Exercise: Llama
Believes: The last layer needs no cache.
Shows: An error in the last layer.
Hint: Compare the number of caches with the number of blocks.
Rejected by: test_new_caches
Costs: 30 %
"""

class Llama(Llama):
    def new_caches(self, batch, max_len):
        kv_heads, d = self.cache_shape
        weight = self.embed.weight
        return [
            KVCache(batch, kv_heads, max_len, d, dtype=weight.dtype, device=weight.device)
            for _ in self.blocks[1:]
        ]
