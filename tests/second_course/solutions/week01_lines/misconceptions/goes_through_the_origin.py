"""Lets the line go through the origin.

Exercise: fit_line
Believes: the slope is the sum of products over the sum of squares.
Shows: the slope is right only for centred points.
Hint: What happens to your slope when every height grows by one?
Costs: 50 %
Rejected by: test_any_points
"""


def fit_line(x, y):
    slope = float((x * y).sum() / (x * x).sum())
    return slope, float(y.mean() - slope * x.mean())
