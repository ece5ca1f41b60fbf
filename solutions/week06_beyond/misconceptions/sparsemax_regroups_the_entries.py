"""Brings the tensor to two axes by a reshape that mixes rows where `dim` is not the last axis.

Exercise: sparsemax
Believes: reshape(-1, n) puts the axis of length n last.
Shows: right for the last axis; for any other the shape is right and the numbers are not.
Hint: Reshaping never changes the order in which numbers lie. Number the entries of a 2 x 3 tensor, take dim=0, and look at the rows that you project.
Rejected by: test_any_axis
Costs: 30 %
"""

_right_sparsemax = sparsemax


def sparsemax(x, dim=-1):
    return _right_sparsemax(x.reshape(-1, x.shape[dim]), -1).reshape(x.shape)
