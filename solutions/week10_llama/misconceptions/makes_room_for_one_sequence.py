"""Makes caches for one sequence only.

Exercise: Llama
Believes: Generating means one sequence.
Shows: A batch of prompts does not fit, or all share one cache.
Hint: What does your method use the argument `batch` for?
Rejected by: test_new_caches
Costs: 30 %
"""

class Llama(Llama):
    def new_caches(self, batch, max_len):
        kv_heads, d = self.cache_shape
        weight = self.embed.weight
        return [
            KVCache(1, kv_heads, max_len, d, dtype=weight.dtype, device=weight.device)
            for _ in self.blocks
        ]
