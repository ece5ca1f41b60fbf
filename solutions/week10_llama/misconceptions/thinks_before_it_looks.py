"""Applies the feed-forward layer first.

Exercise: LlamaBlock
Believes: The order of the layers does not matter.
Shows: Wrong outputs with trained weights.
Hint: Which of the two layers has to see the result of the other?
Rejected by: test_values
Costs: 40 %
"""

class LlamaBlock(LlamaBlock):
    def forward(self, x, frequencies, cache=None):
        x = x + self.ff(self.norm2(x))
        return x + self.attn(self.norm1(x), frequencies, cache)
