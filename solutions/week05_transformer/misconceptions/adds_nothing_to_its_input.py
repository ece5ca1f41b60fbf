"""Replaces x by what attention finds, and that by what the feed-forward layer finds.

Exercise: TransformerBlock
Believes: each layer hands its result to the next one, and that is all.
Shows: what a layer does not repeat is lost; in deep stacks gradients vanish.
Hint: Write the two equations of the docstring. What is on the left of each plus sign?
Rejected by: test_values
Costs: 45 %
"""

_RightTransformerBlock = TransformerBlock


class TransformerBlock(_RightTransformerBlock):
    def forward(self, x):
        x = self.attn(self.ln1(x))
        return self.ff(self.ln2(x))
