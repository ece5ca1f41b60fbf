"""Scales the scores in the forward pass only.

Exercise: attention_backward
Believes: the scale belongs to the forward pass.
Shows: the gradients of queries and keys are √d times as large as they should be.
Hint: Multiply a score by a constant. What happens to its derivative with respect to q?
Rejected by: test_gradient_of_the_queries
Costs: 30 %
"""

_right = attention_backward


def attention_backward(q, k, v, grad_out, mask=None):
    grad_q, grad_k, grad_v = _right(q, k, v, grad_out, mask)
    return grad_q * math.sqrt(q.shape[-1]), grad_k * math.sqrt(q.shape[-1]), grad_v
