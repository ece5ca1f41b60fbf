"""Works for one number of leading dimensions, and stops on others.

Exercise: combine_rounds
Believes: Inputs have the shapes of the example.
Shows: An error for other numbers of leading dimensions.
Hint: Which shapes does the docstring allow? Find the line that stops with no leading dimensions, and
    with three.
Rejected by: test_any_leading_dimensions
Costs: 20 %
"""

_given = combine_rounds


def combine_rounds(outputs, logsumexps):
    return _fitted(_given, (3, 2), outputs, logsumexps)
