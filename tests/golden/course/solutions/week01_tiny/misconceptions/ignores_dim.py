"""Sums over the last axis whatever `dim` says.

Exercise: weigh
Believes: weights always belong to the last axis.
Shows: other axes do not sum to 1.
Hint: Follow `dim` from the signature to every place where an axis is named.
Rejected by: test_any_axis
Costs: 30 %
"""

def weigh(x, dim=-1):
    e = torch.exp(x - x.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)
