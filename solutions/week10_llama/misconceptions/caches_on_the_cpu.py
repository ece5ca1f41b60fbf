"""Makes the caches on the CPU.

Exercise: Llama
Believes: The default device is fine.
Shows: An error on a GPU.
Hint: On which device are your caches if the model is on a GPU?
Rejected by: test_device
Costs: 15 %
"""

class Llama(Llama):
    def new_caches(self, batch, max_len):
        kv_heads, d = self.cache_shape
        weight = self.embed.weight
        return [
            KVCache(batch, kv_heads, max_len, d, dtype=weight.dtype)
            for _ in self.blocks
        ]
