"""Takes a mask that has no effect on the result.

Exercise: attention_backward
Believes: the mask is needed in the forward pass only.
Shows: hidden keys and values get a gradient.
Hint: Follow the mask through your function. Which line uses its result? Compare your weights with
those of week 2.
Rejected by: test_masks
Costs: 30 %
"""

_right = attention_backward


def attention_backward(q, k, v, grad_out, mask=None):
    return _right(q, k, v, grad_out)
