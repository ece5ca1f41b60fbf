"""Adds 1 to both branches.

Exercise: feature_map
Believes: The 1 belongs to elu as a whole, whose negative branch is exp(x).
Shows: Negative values give features above 1.
Hint: What is elu(x) for x < 0? What is left after adding 1?
Rejected by: test_values
Costs: 35 %
"""

def feature_map(x):
    return torch.where(x > 0, x + 1, x.clamp(max=0).exp() + 1)
