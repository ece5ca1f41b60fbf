"""Works for one number of leading dimensions, and stops on others.

Exercise: performer_attention
Believes: Inputs have the shapes of the example.
Shows: An error or another shape for other numbers of leading dimensions.
Hint: Which shapes does the docstring allow? Run it with no leading dimensions, and with three.
Rejected by: test_any_leading_dimensions
Costs: 20 %
"""

_given = performer_attention


def performer_attention(q, k, v, projection, causal=False):
    return _fitted(lambda *x: _given(*x, projection, causal), (2, 2, 2), q, k, v)
