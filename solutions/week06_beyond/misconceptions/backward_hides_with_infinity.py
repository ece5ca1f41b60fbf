"""Lets one query with no visible key turn gradients into NaN.

Exercise: attention_backward
Believes: exp(-inf) is 0, so nothing can go wrong.
Shows: one query without a visible key, and the gradients of all keys and values are NaN.
Hint: What does your softmax do with a row in which every key is hidden? Week 2 had a way out.
Rejected by: test_fully_masked_rows
Costs: 20 %
"""


def attention_backward(q, k, v, grad_out, mask=None):
    scale = q.shape[-1] ** -0.5
    scores = q @ k.mT * scale
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    p = torch.softmax(scores, -1)
    grad_p = grad_out @ v.mT
    grad_scores = p * (grad_p - (p * grad_p).sum(-1, keepdim=True)) * scale
    return grad_scores @ k, grad_scores.mT @ q, p.mT @ grad_out
