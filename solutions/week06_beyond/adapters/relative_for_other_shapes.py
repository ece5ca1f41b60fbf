"""Works for one number of leading dimensions, and stops on others.

Exercise: relative_attention
Believes: Inputs have the shapes of the example.
Shows: An error or another shape for other numbers of leading dimensions.
Hint: Which shapes does the docstring allow? Run it with no leading dimensions, and with three.
Rejected by: test_any_leading_dimensions
Costs: 20 %
"""

_given = relative_attention


def relative_attention(q, k, v, relative_keys):
    return _fitted(lambda *x: _given(*x, relative_keys), (2, 2, 2), q, k, v)
