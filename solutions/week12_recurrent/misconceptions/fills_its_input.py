"""Overwrites its input.

Exercise: feature_map
Believes: The input is not needed after the call.
Shows: The caller's tensor changes.
Hint: Print x before and after the call.
Rejected by: test_views
Costs: 20 %
"""

def feature_map(x):
    features = x.detach().clone()
    features = torch.where(x > 0, x + 1, x.clamp(max=0).exp())
    with torch.no_grad():
        x[x <= 0] = 0
    return features
