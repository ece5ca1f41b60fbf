"""Gives the probabilities of inputs that are twice as large.

Exercise: entmax15
Believes: the factor α - 1 only matters for the threshold.
Shows: a true distribution, too sharp: it is the one for inputs twice as large.
Hint: The formula has (α - 1)·x in it. What is α - 1 here?
Rejected by: test_values
Costs: 35 %
"""

_right_entmax15 = entmax15


def entmax15(x, dim=-1):
    return _right_entmax15(2 * x, dim)
