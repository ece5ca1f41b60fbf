"""Passes x to the attention without normalising it; only feed-forward inputs are normalised.

Exercise: TransformerBlock
Believes: one normalisation in a block is enough.
Shows: large inputs make the attention's scores large, and its weights nearly one-hot.
Hint: Count the normalisations on the way through the block. Which of your two has no effect on the
output?
Rejected by: test_values
Costs: 30 %
"""

_RightTransformerBlock = TransformerBlock


class TransformerBlock(_RightTransformerBlock):
    def forward(self, x):
        x = x + self.attn(x)
        return x + self.ff(self.ln2(x))
