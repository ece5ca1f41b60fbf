"""Returns x for positive values.

Exercise: feature_map
Believes: Positive values need no change.
Shows: The function jumps from 1 to 0 at x = 0.
Hint: What are the values just below and just above 0?
Rejected by: test_values
Costs: 40 %
"""

def feature_map(x):
    return torch.where(x > 0, x, x.clamp(max=0).exp())
