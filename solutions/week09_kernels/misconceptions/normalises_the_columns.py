"""Normalises the columns.

Exercise: softmax_rows
Believes: dim=0 is the first axis, and rows come first.
Shows: The columns sum to 1.
Hint: Which numbers are to sum to 1? Those must be in one block.
Rejected by: test_values
Costs: 35 %
"""

_rows = softmax_rows


def softmax_rows(x):
    return _rows(x.T).T
