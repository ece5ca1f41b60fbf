"""Sums the raw exponentials, so that large numbers give inf and very negative ones -inf.

Exercise: logsumexp
Believes: the logarithm undoes what the exponential did, overflow included.
Shows: inf for entries above 88 in float32, -inf for a row below -104.
Hint: log(exp(1000)) should be 1000. Take something out of the sum before it overflows.
Rejected by: test_large_numbers
Costs: 35 %
Belief: overflow
"""


def logsumexp(x, dim=-1, keepdim=False):
    return torch.log(torch.exp(x).sum(dim=dim, keepdim=keepdim))
