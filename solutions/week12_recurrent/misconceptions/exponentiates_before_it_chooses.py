"""Computes exp of all values before choosing.

Exercise: feature_map
Believes: torch.where ignores the branch that is not chosen.
Shows: Values are correct, but the gradient is NaN where exp(x) overflows.
Hint: Compute the gradient at x = 200. What is 0 times infinity?
Rejected by: test_gradients_of_large_values
Costs: 30 %
"""

def feature_map(x):
    return torch.where(x > 0, x + 1, x.exp())
