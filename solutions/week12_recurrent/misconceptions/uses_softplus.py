"""Uses softplus.

Exercise: feature_map
Believes: Any smooth positive function will do.
Shows: Values differ from the required ones, most at 0.
Hint: What does your function return for 0 and for 3, and what does the docstring require?
Rejected by: test_values
Costs: 40 %
"""

def feature_map(x):
    return F.softplus(x)
