"""Keeps a tiny probability where there should be none.

Exercise: sparsemax
Believes: a probability of exactly zero is dangerous, so a floor of 1e-8 does no harm.
Shows: right to seven digits, but no entry is ever exactly zero.
Hint: Exact zeros are the purpose of sparsemax: a key with a weight of zero can be skipped.
Rejected by: test_exact_zeros
Costs: 30 %
"""

_right_sparsemax = sparsemax


def sparsemax(x, dim=-1):
    return _right_sparsemax(x, dim).clamp(min=1e-8)
