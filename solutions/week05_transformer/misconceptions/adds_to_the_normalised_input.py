"""Adds what attention and feed-forward layer found to the normalised input.

Exercise: TransformerBlock
Believes: once x is normalised, the old x is not needed any more.
Shows: the size of the input is lost; shapes and training look fine.
Hint: Two things are added in each half. One is the work on the normalised x. Which x is the other?
Rejected by: test_large_inputs_pass_through
Costs: 35 %
"""

_RightTransformerBlock = TransformerBlock


class TransformerBlock(_RightTransformerBlock):
    def forward(self, x):
        x = self.ln1(x)
        x = x + self.attn(x)
        x = self.ln2(x)
        return x + self.ff(x)
