"""Takes the intercept for the slope.

Exercise: predict
Believes: the first number is where the line begins.
Shows: right only where both numbers are equal.
Hint: What is the height at 0?
Costs: 40 %
Rejected by: test_any_line
"""


def predict(x, slope, intercept):
    return intercept * x + slope
