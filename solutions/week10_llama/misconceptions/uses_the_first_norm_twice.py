"""Uses `norm1` for both layers.

Exercise: LlamaBlock
Believes: The two norms are equal.
Shows: `norm2` never learns.
Hint: Which parameter of your block changes nothing?
Rejected by: test_values
Costs: 25 %
"""

class LlamaBlock(LlamaBlock):
    def forward(self, x, frequencies, cache=None):
        x = x + self.attn(self.norm1(x), frequencies, cache)
        return x + self.ff(self.norm1(x))
