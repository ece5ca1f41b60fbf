"""Answers with the maximum alone.

Exercise: logsumexp
Believes: the largest exponential is all that counts.
Shows: right where one entry towers over the rest; too small by up to the log of the number of
    entries.
Hint: What is the logsumexp of [0, 0]?
Rejected by: test_values
Costs: 90 %
"""


def logsumexp(x, dim=-1, keepdim=False):
    return x.amax(dim=dim, keepdim=keepdim)
