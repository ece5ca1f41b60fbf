"""Removes all axes of size 1 from the results.

Exercise: attention_backward
Believes: axes of size 1 are left over from the computation.
Shows: right for most shapes; a lost axis for a single query, key or feature.
Hint: A gradient has the shape of its tensor. Which shape has q for a single query?
Rejected by: test_singleton_axes
Costs: 20 %
"""

_right = attention_backward


def attention_backward(q, k, v, grad_out, mask=None):
    return tuple(g.squeeze() for g in _right(q, k, v, grad_out, mask))
