"""Returns what the feed-forward layer found, without adding it to what was there.

Exercise: TransformerBlock
Believes: the sum is needed around the attention only.
Shows: the input and what the attention found reach the output only through the feed-forward layer.
Hint: Write the two equations of the docstring. What is on the left of each plus sign?
Rejected by: test_values
Costs: 35 %
"""

_RightTransformerBlock = TransformerBlock


class TransformerBlock(_RightTransformerBlock):
    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return self.ff(self.ln2(x))
