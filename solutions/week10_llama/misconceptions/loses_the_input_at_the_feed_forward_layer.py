"""Leaves the second residual connection out.

Exercise: LlamaBlock
Believes: One residual connection is enough.
Shows: The result of the attention is lost.
Hint: What should the block return if the feed-forward layer returns 0?
Rejected by: test_values
Costs: 40 %
"""

class LlamaBlock(LlamaBlock):
    def forward(self, x, frequencies, cache=None):
        x = x + self.attn(self.norm1(x), frequencies, cache)
        return self.ff(self.norm2(x))
