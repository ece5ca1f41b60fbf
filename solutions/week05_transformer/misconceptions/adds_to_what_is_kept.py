"""Adds in place to a tensor that the backward pass still needs, in its blocks or after them.

Exercise: MiniTransformer
Believes: x += y is short for x = x + y.
Shows: right logits; the backward pass stops, because a tensor that it keeps was changed.
Hint: A layer keeps its input for the backward pass. Which of your lines writes into a tensor that
    has gone through a layer before?
Rejected by: test_gradients
Costs: 15 %
Belief: adds_in_place
"""

_Right = TransformerBlock


class TransformerBlock(_Right):
    def forward(self, x):
        x += self.attn(self.ln1(x))
        x += self.ff(self.ln2(x))
        return x
