"""Multiplies the gradient of the weights by the weights, and nothing else.

Exercise: attention_backward
Believes: the derivative of an exponential is the exponential, so the softmax passes p times the gradient on.
Shows: the gradient of the values is right; the gradients of queries and keys are not. The gradients of
    a row's scores do not sum to zero.
Hint: Add 1 to all scores of a row. By how much may the loss change? Which property of the gradients follows?
Rejected by: test_gradient_of_the_queries
Costs: 35 %
"""


def attention_backward(q, k, v, grad_out, mask=None):
    scale = q.shape[-1] ** -0.5
    scores = q @ k.mT * scale
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    p = torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1)
    p = p.masked_fill(~mask, 0.0)
    grad_scores = p * (grad_out @ v.mT) * scale
    return grad_scores @ k, grad_scores.mT @ q, p.mT @ grad_out
