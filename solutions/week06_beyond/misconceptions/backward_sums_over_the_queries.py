"""Sums over the queries in the gradient of the softmax.

Exercise: attention_backward
Believes: any axis of the table will do.
Shows: the gradient of the values is right; those of queries and keys are not.
Hint: Which weights share one softmax? Mark them in the table of weights.
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
    grad_p = grad_out @ v.mT
    grad_scores = p * (grad_p - (p * grad_p).sum(-2, keepdim=True)) * scale
    return grad_scores @ k, grad_scores.mT @ q, p.mT @ grad_out
