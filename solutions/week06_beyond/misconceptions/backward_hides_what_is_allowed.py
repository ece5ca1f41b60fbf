"""Hides the keys that the mask allows.

Exercise: attention_backward
Believes: True in a mask means hidden.
Shows: with a mask, the gradients go to the hidden keys.
Hint: What does True mean in the masks of this course? Which entries does `masked_fill` fill?
Rejected by: test_masks
Costs: 30 %
"""

_right = attention_backward


def attention_backward(q, k, v, grad_out, mask=None):
    return _right(q, k, v, grad_out, None if mask is None else ~mask)
