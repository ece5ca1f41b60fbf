"""Adds to the normalised input.

Exercise: LlamaBlock
Believes: The norm is the first step of the block.
Shows: The block's input is lost; only its direction remains.
Hint: If both layers return 0, what should the block return? And yours?
Rejected by: test_values
Costs: 40 %
"""

class LlamaBlock(LlamaBlock):
    def forward(self, x, frequencies, cache=None):
        x = self.norm1(x)
        x = x + self.attn(x, frequencies, cache)
        x = self.norm2(x)
        return x + self.ff(x)
