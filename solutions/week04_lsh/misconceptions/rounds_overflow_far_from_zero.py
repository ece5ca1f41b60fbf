"""Takes the exponential of the raw logsumexps, and divides by 1 if the sum is 0.

Exercise: combine_rounds
Believes: exp(a) / sum(exp(a)) needs no shift if no division by zero can happen.
Shows: right near zero; NaN for large logsumexps, and zeros for very negative ones.
Hint: Week 1 has the cure: what may be subtracted from all of them without changing the ratio?
Rejected by: test_far_from_zero
Costs: 25 %
"""


def combine_rounds(outputs, logsumexps):
    dtype = torch.promote_types(outputs.dtype, torch.float32)
    mass = logsumexps.to(dtype).exp()
    total = mass.sum(dim=-2, keepdim=True)
    weights = mass / total.masked_fill(total == 0, 1.0)
    return (weights.unsqueeze(-1) * outputs.to(dtype)).sum(dim=-3).to(outputs.dtype)
