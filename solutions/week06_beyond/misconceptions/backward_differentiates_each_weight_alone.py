"""Differentiates each weight by its own score only.

Exercise: attention_backward
Believes: the derivative of a softmax is p (1 - p), like that of a sigmoid.
Shows: the gradient of the values is right; those of queries and keys are right only in part.
Hint: If one score rises, which weights of its row change?
Rejected by: test_gradient_of_the_queries
Costs: 45 %
"""


def attention_backward(q, k, v, grad_out, mask=None):
    scale = q.shape[-1] ** -0.5
    scores = q @ k.mT * scale
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    p = torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1)
    p = p.masked_fill(~mask, 0.0)
    grad_scores = p * (1 - p) * (grad_out @ v.mT) * scale
    return grad_scores @ k, grad_scores.mT @ q, p.mT @ grad_out
