"""Returns 0 at x = 0.

Exercise: feature_map
Believes: The sign of 0 is 0.
Shows: Only x = 0 gives a wrong value.
Hint: What is exp(0)?
Rejected by: test_at_zero
Costs: 20 %
"""

def feature_map(x):
    return torch.where(x > 0, x + 1, x.clamp(max=0).exp()) * x.sign().abs()
