"""Goes on with what attention found, without adding it to the block's input.

Exercise: TransformerBlock
Believes: the sum is needed around the feed-forward layer only.
Shows: a token keeps no part of itself except through attention.
Hint: Write the two equations of the docstring. What is on the left of the first plus sign?
Rejected by: test_values
Costs: 35 %
"""

_RightTransformerBlock = TransformerBlock


class TransformerBlock(_RightTransformerBlock):
    def forward(self, x):
        x = self.attn(self.ln1(x))
        return x + self.ff(self.ln2(x))
