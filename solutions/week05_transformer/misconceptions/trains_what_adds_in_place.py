"""Trains a model that adds in place to a tensor that the backward pass still needs.

Exercise: fit
Believes: x += y is short for x = x + y.
Shows: the first backward pass stops, because a tensor that it keeps was changed.
Hint: The loss is right. A layer keeps its input for the backward pass: which line of the model, or
    of yours, writes into one?
Rejected by: test_a_whole_transformer
Costs: 5 %
Belief: adds_in_place
"""

_Right = TransformerBlock


class TransformerBlock(_Right):
    def forward(self, x):
        x += self.attn(self.ln1(x))
        x += self.ff(self.ln2(x))
        return x
