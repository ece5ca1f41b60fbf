"""Returns x + 1 for small negative values, too.

Exercise: feature_map
Believes: exp(x) is nearly 1 + x.
Shows: Values well below zero become negative.
Hint: What does your function return for -3?
Rejected by: test_never_negative
Costs: 35 %
"""

def feature_map(x):
    return torch.where(x > -4, x + 1, x.clamp(max=0).exp())
