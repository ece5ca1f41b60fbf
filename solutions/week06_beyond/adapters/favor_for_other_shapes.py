"""Works for one number of leading dimensions, and stops on others.

Exercise: favor_features
Believes: Inputs have the shapes of the example.
Shows: An error or another shape for other numbers of leading dimensions.
Hint: Which shapes does the docstring allow? Run it with no leading dimensions, and with three.
Rejected by: test_any_leading_dimensions
Costs: 20 %
"""

_given = favor_features


def favor_features(x, projection):
    return _fitted(lambda part: _given(part, projection), (2,), x)
