"""Weights the rounds by their logsumexps themselves, without taking the exponential.

Exercise: combine_rounds
Believes: The logsumexp is the mass of the round.
Shows: Negative sums, or sums near 0, give weights that are negative or huge.
Hint: The logsumexp is the logarithm of a mass. How do you get the mass back?
Rejected by: test_values
Costs: 35 %
"""


def combine_rounds(outputs, logsumexps):
    weights = (logsumexps / logsumexps.sum(dim=-2, keepdim=True)).to(outputs.dtype)
    return (weights.unsqueeze(-1) * outputs).sum(dim=-3)
