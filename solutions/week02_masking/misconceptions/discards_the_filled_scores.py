"""Computes the filled scores but goes on with the old ones, so that the mask has no effect.

Exercise: masked_softmax
Believes: masked_fill changes the tensor it is called on.
Shows: a plain softmax: hidden entries get their weight as if nothing were hidden.
Hint: `masked_fill` without an underscore returns a new tensor. Where does yours go?
Rejected by: test_values
Costs: 90 %
"""


def masked_softmax(scores, mask, dim=-1):
    scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return torch.softmax(scores, dim=dim)
