"""Computes the gradients of attention without a scale.

Exercise: attention_backward
Believes: a constant factor makes no difference for gradients.
Shows: all three gradients differ, because the weights differ already.
Hint: Compare your weights with those of week 2 first.
Rejected by: test_gradient_of_the_values
Costs: 35 %
"""

_right = attention_backward


def attention_backward(q, k, v, grad_out, mask=None):
    root = q.shape[-1] ** 0.25
    grad_q, grad_k, grad_v = _right(q * root, k * root, v, grad_out, mask)
    return grad_q * root, grad_k * root, grad_v
