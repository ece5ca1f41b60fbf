"""Needs at least two axes.

Exercise: feature_map
Believes: Inputs are matrices.
Shows: Vectors and scalars raise an error.
Hint: Call your function with torch.tensor(1.0).
Rejected by: test_shapes
Costs: 20 %
"""

def feature_map(x):
    rows, columns = x.shape[-2:]
    return torch.where(x > 0, x + 1, x.clamp(max=0).exp())
