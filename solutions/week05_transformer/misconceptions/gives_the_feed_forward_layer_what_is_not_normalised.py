"""Passes x to the feed-forward layer without normalising it; only attention inputs are normalised.

Exercise: TransformerBlock
Believes: one normalisation in a block is enough.
Shows: what the feed-forward layer adds grows with the input.
Hint: Count the normalisations on the way through the block. Which of your two has no effect on the
output?
Rejected by: test_values
Costs: 30 %
"""

_RightTransformerBlock = TransformerBlock


class TransformerBlock(_RightTransformerBlock):
    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.ff(x)
