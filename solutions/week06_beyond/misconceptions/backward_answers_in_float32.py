"""Computes in float32 and leaves the results there.

Exercise: attention_backward
Believes: gradients are always float32.
Shows: inputs of half or double precision get gradients of a different dtype.
Hint: Which dtype should a gradient have, independent of the dtype of the computation?
Rejected by: test_every_dtype
Costs: 20 %
"""

_right = attention_backward


def attention_backward(q, k, v, grad_out, mask=None):
    return _right(q.float(), k.float(), v.float(), grad_out.float(), mask)
