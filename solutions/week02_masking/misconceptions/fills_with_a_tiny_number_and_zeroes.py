"""Gives hidden entries a score of 0 or close to it, then zeroes their weights.

Exercise: masked_softmax
Believes: a small negative number hides, and zeros afterwards make sure.
Shows: hidden entries get 0, but the others share less than 1 among them.
Hint: Sum your rows. Who has the rest, at the time of the division?
Rejected by: test_values
Costs: 35 %
"""

def masked_softmax(scores, mask, dim=-1):
    weights = torch.softmax(scores.masked_fill(~mask, -1e-12), dim=dim)
    return weights.masked_fill(~mask, 0.0)
