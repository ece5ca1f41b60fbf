"""Ignores the mask: hidden entries get a weight as if nothing were hidden.

Exercise: masked_softmax
Believes: masked_fill changes the tensor it is called on.
Shows: a plain softmax: hidden entries get their weight as if nothing were hidden.
Hint: Follow the mask through your code. Which line uses its result? (`masked_fill` without an
underscore returns a new tensor.)
Rejected by: test_values
Costs: 90 %
"""


def masked_softmax(scores, mask, dim=-1):
    scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return torch.softmax(scores, dim=dim)
