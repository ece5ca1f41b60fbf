"""Adds in place, so that the caller's tensor changes.

Exercise: TransformerBlock
Believes: x += y is short for x = x + y.
Shows: the values are right, but a caller who keeps the input finds it changed; a leaf that needs
    gradients raises an error.
Hint: For tensors `+=` writes into the memory of x. Who else is holding that memory when x is your argument?
Rejected by: test_input_stays_as_it_was
Costs: 20 %
Belief: adds_in_place
"""

_RightTransformerBlock = TransformerBlock


class TransformerBlock(_RightTransformerBlock):
    def forward(self, x):
        x += self.attn(self.ln1(x))
        x += self.ff(self.ln2(x))
        return x
