"""Shifts the logsumexps by their mean before taking the exponential.

Exercise: combine_rounds
Believes: Any shift protects against overflow.
Shows: Right for moderate sums; NaN where one round is far above the others or had no key at all.
Hint: After the shift, how large can the largest exponent still be? Which shift makes it at most
    zero?
Rejected by: test_far_from_zero
Costs: 20 %
"""


def combine_rounds(outputs, logsumexps):
    mass = (logsumexps - logsumexps.mean(dim=-2, keepdim=True)).exp()
    weights = (mass / mass.sum(dim=-2, keepdim=True)).to(outputs.dtype)
    return (weights.unsqueeze(-1) * outputs).sum(dim=-3)
