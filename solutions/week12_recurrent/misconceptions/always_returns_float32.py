"""Always returns float32.

Exercise: feature_map
Believes: Features are needed in float32 anyway.
Shows: Half-precision inputs give float32 features.
Hint: What dtype does the docstring require?
Rejected by: test_every_dtype
Costs: 20 %
"""

def feature_map(x):
    return torch.where(x > 0, x + 1, x.clamp(max=0).exp()).float()
