"""Multiplies the scores by the mask before the softmax: a hidden score becomes 0.

Exercise: masked_softmax
Believes: a score of zero means no weight.
Shows: hidden entries get exp(0), more than an allowed score below zero gets.
Hint: What is exp(0)? Find the score whose exponential is 0.
Rejected by: test_values
Costs: 40 %
"""


def masked_softmax(scores, mask, dim=-1):
    return torch.softmax(scores * mask, dim=dim)
