"""Adds what the feed-forward layer found to the block's input, so what attention found is lost.

Exercise: TransformerBlock
Believes: both sums begin at the block's input.
Shows: attention reaches the output only through the feed-forward layer.
Hint: What does x stand for in the second line of the docstring: the block's input, or the sum of
    the first line?
Rejected by: test_values
Costs: 30 %
"""

_RightTransformerBlock = TransformerBlock


class TransformerBlock(_RightTransformerBlock):
    def forward(self, x):
        return x + self.ff(self.ln2(x + self.attn(self.ln1(x))))
