"""Gives the largest weight to the round with the smallest logsumexp.

Exercise: combine_rounds
Believes: A large logsumexp is a large loss.
Shows: Rounds in which a position was alone dominate.
Hint: Does a round that met many good keys have a large or a small denominator?
Rejected by: test_values
Costs: 35 %
"""


def combine_rounds(outputs, logsumexps):
    weights = (-logsumexps).softmax(dim=-2).to(outputs.dtype)
    return (weights.unsqueeze(-1) * outputs).sum(dim=-3)
