"""Drops the axis of the row sums, which then broadcast along the wrong axis.

Exercise: attention_backward
Believes: a sum can be subtracted from the matrix whose rows were summed.
Shows: with as many keys as queries the gradients of queries and keys are wrong; otherwise there is an error.
Hint: Subtract a vector (n,) from a matrix (n, n). Does torch subtract one number per row or per column?
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
    grad_scores = p * (grad_p - (p * grad_p).sum(-1).unsqueeze(-2)) * scale
    return grad_scores @ k, grad_scores.mT @ q, p.mT @ grad_out
