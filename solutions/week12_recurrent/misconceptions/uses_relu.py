"""Sets negative values to 0.

Exercise: feature_map
Believes: A feature map only has to remove negative values.
Shows: Negative values become 0, and positive ones are smaller by 1.
Hint: What does the docstring say about x <= 0? What is the gradient there in your function?
Rejected by: test_values
Costs: 45 %
"""

def feature_map(x):
    return x.clamp(min=0)
