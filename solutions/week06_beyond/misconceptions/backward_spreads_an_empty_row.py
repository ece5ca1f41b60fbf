"""Gives a query without a visible key equal weights for all keys.

Exercise: attention_backward
Believes: a very negative score hides a key in every row.
Shows: hidden values get a gradient from a query that sees nothing.
Hint: All scores of a row are equal, and very small. What are the weights?
Rejected by: test_fully_masked_rows
Costs: 20 %
"""


def attention_backward(q, k, v, grad_out, mask=None):
    scale = q.shape[-1] ** -0.5
    scores = q @ k.mT * scale
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    p = torch.softmax(scores, -1)
    grad_p = grad_out @ v.mT
    grad_scores = p * (grad_p - (p * grad_p).sum(-1, keepdim=True)) * scale
    if mask is not None:
        grad_scores = grad_scores.masked_fill(~mask, 0.0)
    return grad_scores @ k, grad_scores.mT @ q, p.mT @ grad_out
