"""Selects the branch by multiplying with 0 or 1.

Exercise: feature_map
Believes: Multiplying by 0 removes a value.
Shows: Large positive values give NaN.
Hint: What does your function return for x = 1000? What is 0 times infinity?
Rejected by: test_large_values
Costs: 30 %
"""

def feature_map(x):
    return (x > 0) * (x + 1) + (x <= 0) * x.exp()
