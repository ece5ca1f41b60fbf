"""Works for one number of leading dimensions, and stops on others.

Exercise: hash_vectors
Believes: Inputs have the shapes of the example.
Shows: An error for other numbers of leading dimensions.
Hint: Which shapes does the docstring allow? Find the line that stops with no leading dimensions, and
    with three.
Rejected by: test_any_leading_dimensions
Costs: 20 %
"""

_given = hash_vectors


def hash_vectors(x, rotations):
    return _fitted(lambda part: _given(part, rotations), (2,), x)
