"""Does not normalise the input of the attention.

Exercise: LlamaBlock
Believes: The norm before the feed-forward layer is enough.
Shows: `norm1` never learns.
Hint: Which parameter of your block changes nothing?
Rejected by: test_values
Costs: 40 %
"""

class LlamaBlock(LlamaBlock):
    def forward(self, x, frequencies, cache=None):
        x = x + self.attn(x, frequencies, cache)
        return x + self.ff(self.norm2(x))
