"""Exponentiates positive values too.

Exercise: feature_map
Believes: Softmax uses exp, so the feature map is exp.
Shows: Positive values become far too large.
Hint: What does your function return for x = 2?
Rejected by: test_values
Costs: 90 %
"""

def feature_map(x):
    return x.exp()
