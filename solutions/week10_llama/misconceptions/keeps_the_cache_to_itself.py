"""Does not pass the cache to the attention.

Exercise: LlamaBlock
Believes: The cache is the model's business.
Shows: With a cache, nothing of the past is seen.
Hint: Who appends keys and values to the cache?
Rejected by: test_cache
Costs: 30 %
"""

class LlamaBlock(LlamaBlock):
    def forward(self, x, frequencies, cache=None):
        x = x + self.attn(self.norm1(x), frequencies)
        return x + self.ff(self.norm2(x))
