"""Fills hidden scores with a number close to zero, which hides next to nothing.

Exercise: masked_softmax
Believes: -1e-9 is a very negative number.
Shows: hidden entries get about the weight of a score of 0.
Hint: Read your exponent's sign again: is the number far below zero, or just below zero?
Rejected by: test_values
Costs: 35 %
Belief: close_to_zero_hides
"""


def masked_softmax(scores, mask, dim=-1):
    return torch.softmax(scores.masked_fill(~mask, -1e-9), dim=dim)
