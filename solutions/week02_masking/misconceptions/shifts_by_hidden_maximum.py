"""Subtracts the largest score of the whole row, hidden ones included, before it exponentiates.

Exercise: masked_softmax
Believes: any maximum is good enough for stability.
Shows: allowed scores far below a hidden one all become 0; a hidden NaN spreads.
Hint: The shift is there so that the largest *remaining* exponential is 1. Which scores should
    take part in the maximum?
Rejected by: test_hidden_scores_may_be_the_largest
Costs: 20 %
"""


def masked_softmax(scores, mask, dim=-1):
    powers = (scores - scores.amax(dim=dim, keepdim=True)).exp().masked_fill(~mask, 0.0)
    total = powers.sum(dim=dim, keepdim=True)
    return powers / total.masked_fill(total == 0, 1.0)
