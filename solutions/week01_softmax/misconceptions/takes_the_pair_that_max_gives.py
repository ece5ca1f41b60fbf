"""Subtracts what `torch.max` gives along a dimension: a pair, of values and places.

Exercise: softmax
Believes: `max` gives the maximum, with a dimension as without.
Shows: every call ends with a TypeError.
Hint: Print what `max` gives you, with `dim` and without. Which part of it do you need?
Rejected by: test_values
Costs: 35 %
"""


def softmax(x, dim=-1):
    exponentials = torch.exp(x - torch.max(x, dim=dim, keepdim=True))
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
