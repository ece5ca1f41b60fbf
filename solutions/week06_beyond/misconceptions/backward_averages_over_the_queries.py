"""Takes the mean over all queries for the gradients of keys and values.

Exercise: attention_backward
Believes: a key is used by many queries, so its gradient is their mean.
Shows: the gradients of keys and values are n times as small as they should be.
Hint: A key contributes to the loss through every query. How do several paths to the same variable combine in the chain rule?
Rejected by: test_gradient_of_the_values
Costs: 35 %
"""

_right = attention_backward


def attention_backward(q, k, v, grad_out, mask=None):
    grad_q, grad_k, grad_v = _right(q, k, v, grad_out, mask)
    return grad_q, grad_k / q.shape[-2], grad_v / q.shape[-2]
