"""Leaves negative features negative.

Exercise: feature_map
Believes: The feature map is elu.
Shows: Each feature is smaller by 1, and some are negative.
Hint: What is the smallest value that your function can return? Can a weight be negative?
Rejected by: test_values
Costs: 40 %
"""

def feature_map(x):
    return torch.where(x > 0, x, x.clamp(max=0).exp() - 1)
