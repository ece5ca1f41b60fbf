"""Returns 1 for all negative values.

Exercise: feature_map
Believes: All values from 0 down have the same feature.
Shows: Positive values are correct; every negative one gives 1.
Hint: What does your function return for -2, and what for -5?
Rejected by: test_values
Costs: 40 %
"""

def feature_map(x):
    return x.clamp(min=0) + 1
