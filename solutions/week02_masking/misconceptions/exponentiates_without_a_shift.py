"""Exponentiates the raw scores, without subtracting a maximum first.

Exercise: masked_softmax
Believes: with a mask the maximum no longer matters.
Shows: overflow to inf, then NaN, for large scores; 0 for low ones.
Hint: Week 1 had a remedy for exponentials that overflow. It works here too, for the scores that
    are allowed.
Rejected by: test_everything_allowed
Costs: 20 %
"""


def masked_softmax(scores, mask, dim=-1):
    powers = scores.masked_fill(~mask, float("-inf")).exp()
    total = powers.sum(dim=dim, keepdim=True)
    return powers / total.masked_fill(total == 0, 1.0)
