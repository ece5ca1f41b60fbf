"""Works for one number of leading dimensions, and stops on others.

Exercise: additive_attention
Believes: Inputs have the shapes of the example.
Shows: An error or another shape for other numbers of leading dimensions.
Hint: Which shapes does the docstring allow? Run it with no leading dimensions, and with three.
Rejected by: test_any_leading_dimensions
Costs: 20 %
"""

_given = additive_attention


def additive_attention(q, k, v, W_q, W_k, u, mask=None):
    if mask is None:
        return _fitted(lambda *x: _given(*x, W_q, W_k, u), (2, 2, 2), q, k, v)
    mask = mask.expand(*q.shape[:-1], k.shape[-2])
    return _fitted(lambda *x: _given(*x[:3], W_q, W_k, u, x[3]), (2, 2, 2, 2), q, k, v, mask)
