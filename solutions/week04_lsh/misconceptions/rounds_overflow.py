"""Takes the exponential of each logsumexp before dividing by their sum.

Exercise: combine_rounds
Believes: exp(a) / sum(exp(a)) needs no shift.
Shows: Inf or NaN for large sums, and NaN where a position was alone in every round.
Hint: Week 1 has the cure: what may be subtracted from all of them without changing the ratio?
Rejected by: test_far_from_zero
Costs: 25 %
"""


def combine_rounds(outputs, logsumexps):
    mass = logsumexps.exp()
    weights = (mass / mass.sum(dim=-2, keepdim=True)).to(outputs.dtype)
    return (weights.unsqueeze(-1) * outputs).sum(dim=-3)
