"""Changes the branch at 1.

Exercise: feature_map
Believes: The two branches meet at 1.
Shows: Values between 0 and 1 are wrong.
Hint: Where do x + 1 and exp(x) have the same value?
Rejected by: test_values
Costs: 30 %
"""

def feature_map(x):
    return torch.where(x > 1, x + 1, x.clamp(max=1).exp())
