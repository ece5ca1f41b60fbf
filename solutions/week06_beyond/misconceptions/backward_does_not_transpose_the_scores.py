"""Multiplies queries by the gradient of the scores without transposing it.

Exercise: attention_backward
Believes: the gradient of a product multiplies the other factor by the incoming gradient.
Shows: the gradient of the keys is wrong; if n and m differ there is an error.
Hint: Row j of the gradient of k belongs to key j. Which entries of the gradient of the scores belong to key j?
Rejected by: test_gradient_of_the_keys
Costs: 30 %
"""


def attention_backward(q, k, v, grad_out, mask=None):
    scale = q.shape[-1] ** -0.5
    scores = q @ k.mT * scale
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    p = torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1)
    p = p.masked_fill(~mask, 0.0)
    grad_p = grad_out @ v.mT
    grad_scores = p * (grad_p - (p * grad_p).sum(-1, keepdim=True)) * scale
    return grad_scores @ k, grad_scores @ q, p.mT @ grad_out
