"""Computes the weights again without subtracting the maximum.

Exercise: attention_backward
Believes: the maximum cancels, so it can be left out.
Shows: right for small scores; NaN where an exponential overflows.
Hint: What is exp(100) in float32? Look up what week 1 did about it.
Rejected by: test_large_scores
Costs: 20 %
"""


def attention_backward(q, k, v, grad_out, mask=None):
    scale = q.shape[-1] ** -0.5
    powers = torch.exp(_wide(q) @ _wide(k).mT * scale)
    if mask is not None:
        powers = powers.masked_fill(~mask, 0.0)
    total = powers.sum(-1, keepdim=True)
    p = (powers / total.masked_fill(total == 0, 1.0)).to(q.dtype)
    grad_p = grad_out @ v.mT
    grad_scores = p * (grad_p - (p * grad_p).sum(-1, keepdim=True)) * scale
    return grad_scores @ k, grad_scores.mT @ q, p.mT @ grad_out
