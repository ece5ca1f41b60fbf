"""Limits how large x may be.

Exercise: feature_map
Believes: exp overflows above 88, so x has to be limited.
Shows: Values above 80 are all equal.
Hint: In which branch does exp have to be protected?
Rejected by: test_large_values
Costs: 30 %
"""

def feature_map(x):
    return torch.where(x > 0, x.clamp(max=80) + 1, x.clamp(max=0).exp())
