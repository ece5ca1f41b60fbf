"""Does not normalise the input of the feed-forward layer.

Exercise: LlamaBlock
Believes: The norm before the attention is enough.
Shows: `norm2` never learns.
Hint: Which parameter of your block changes nothing?
Rejected by: test_values
Costs: 40 %
"""

class LlamaBlock(LlamaBlock):
    def forward(self, x, frequencies, cache=None):
        x = x + self.attn(self.norm1(x), frequencies, cache)
        return x + self.ff(x)
