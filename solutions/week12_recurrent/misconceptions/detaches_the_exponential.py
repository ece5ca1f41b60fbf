"""Detaches the negative branch from the graph.

Exercise: feature_map
Believes: Only the branch that is linear needs a gradient.
Shows: The gradient of negative values is 0.
Hint: Compare your gradient at x = -1 with exp(-1).
Rejected by: test_gradients
Costs: 30 %
"""

def feature_map(x):
    return torch.where(x > 0, x + 1, x.clamp(max=0).exp().detach())
