"""Scales the gradients of queries and keys twice.

Exercise: attention_backward
Believes: every gradient that leaves the function is scaled.
Shows: the gradients of queries and keys are √d times as small as they should be.
Hint: How often is a score scaled in the forward pass?
Rejected by: test_gradient_of_the_queries
Costs: 30 %
"""

_right = attention_backward


def attention_backward(q, k, v, grad_out, mask=None):
    grad_q, grad_k, grad_v = _right(q, k, v, grad_out, mask)
    return grad_q / math.sqrt(q.shape[-1]), grad_k / math.sqrt(q.shape[-1]), grad_v
