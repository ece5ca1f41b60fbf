"""Multiplies the incoming gradient by the weights for the gradient of the values.

Exercise: attention_backward
Believes: the gradient takes the same way as the values.
Shows: the gradient of the values is wrong; if n and m differ there is an error.
Hint: `weights @ v` collects values for a query. From which queries does one value collect its gradient?
Rejected by: test_gradient_of_the_values
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
    return grad_scores @ k, grad_scores.mT @ q, p @ grad_out
