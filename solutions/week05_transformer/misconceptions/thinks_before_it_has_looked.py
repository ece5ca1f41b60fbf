"""Feeds the input of the block to the feed-forward layer.

Exercise: TransformerBlock
Believes: both halves work on x, and the results are added up.
Shows: the feed-forward layer never sees what this block's attention found.
Hint: Write the two equations of the docstring with x' for the middle. On which of the two does the feed-forward layer work?
Rejected by: test_values
Costs: 35 %
"""

_RightTransformerBlock = TransformerBlock


class TransformerBlock(_RightTransformerBlock):
    def forward(self, x):
        return x + self.attn(self.ln1(x)) + self.ff(self.ln2(x))
