"""Works for one number of leading dimensions, and stops on others.

Exercise: rotary
Believes: Inputs have the shapes of the example.
Shows: An error or another shape for other numbers of leading dimensions.
Hint: Which shapes does the docstring allow? Run it with no leading dimensions, and with three.
Rejected by: test_heads
Costs: 20 %
"""

_given = rotary


def rotary(x, positions=None, base=10000.0):
    if positions is None or positions.ndim == 1:
        return _fitted(lambda part: _given(part, positions, base), (2,), x)
    positions = positions.expand(x.shape[:-1])
    return _fitted(lambda part, own: _given(part, own, base), (2, 1), x, positions)
