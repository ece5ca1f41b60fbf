"""Leaves both residual connections out.

Exercise: LlamaBlock
Believes: Each layer replaces its input.
Shows: The input is lost.
Hint: What should the block return if both layers return 0?
Rejected by: test_values
Costs: 40 %
"""

class LlamaBlock(LlamaBlock):
    def forward(self, x, frequencies, cache=None):
        x = self.attn(self.norm1(x), frequencies, cache)
        return self.ff(self.norm2(x))
