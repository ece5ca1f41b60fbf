"""Gives hidden entries a score of 0, or one very close to it.

Exercise: masked_softmax
Believes: -1e-9 is a very negative number.
Shows: hidden entries get about the weight of a score of 0.
Hint: What is the exponential of the score that your hidden entries get? Which scores become weights
of 0?
Rejected by: test_values
Costs: 35 %
Belief: close_to_zero_hides
"""


def masked_softmax(scores, mask, dim=-1):
    return torch.softmax(scores.masked_fill(~mask, -1e-9), dim=dim)
