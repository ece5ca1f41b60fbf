"""Differentiates the sum of the outputs, whatever the loss is.

Exercise: attention_backward
Believes: the loss is the sum of the outputs.
Shows: all gradients are those of an incoming gradient of ones.
Hint: Where does your code read `grad_out`?
Rejected by: test_gradient_of_the_values
Costs: 45 %
"""

_right = attention_backward


def attention_backward(q, k, v, grad_out, mask=None):
    return _right(q, k, v, torch.ones_like(grad_out), mask)
