"""Hands the gradient of the weights to the scores as it is.

Exercise: attention_backward
Believes: the backward pass consists of the products only.
Shows: the gradient of the values is right; those of queries and keys are far too large.
Hint: Count the steps of the forward pass between `q @ k.mT` and `weights @ v`. Each has a step in the backward pass.
Rejected by: test_gradient_of_the_queries
Costs: 40 %
"""


def attention_backward(q, k, v, grad_out, mask=None):
    scale = q.shape[-1] ** -0.5
    scores = q @ k.mT * scale
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    p = torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1)
    p = p.masked_fill(~mask, 0.0)
    grad_scores = (grad_out @ v.mT).masked_fill(~mask, 0.0) * scale
    return grad_scores @ k, grad_scores.mT @ q, p.mT @ grad_out
