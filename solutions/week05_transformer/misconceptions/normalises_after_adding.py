"""Normalises after adding, as the paper of 2017 did.

Exercise: TransformerBlock
Believes: where the normalisation stands is a matter of taste.
Shows: what comes out is always of the same size; in deep stacks gradients become uneven and training needs a warm-up.
Hint: There should be a path from the input of the block to its output that crosses only plus signs.
    Is there one in yours?
Rejected by: test_large_inputs_pass_through
Costs: 35 %
"""

_RightTransformerBlock = TransformerBlock


class TransformerBlock(_RightTransformerBlock):
    def forward(self, x):
        x = self.ln1(x + self.attn(x))
        return self.ln2(x + self.ff(x))
