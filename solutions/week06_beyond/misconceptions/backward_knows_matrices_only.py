"""Exchanges the first two axes, which are the last two of a matrix only.

Exercise: attention_backward
Believes: transpose(0, 1) exchanges rows and columns.
Shows: right for one sequence; an error or wrong values for a batch.
Hint: Which axes hold keys and features of a tensor (B, H, m, d)? Count them from the end.
Rejected by: test_any_leading_dimensions
Costs: 35 %
"""


def attention_backward(q, k, v, grad_out, mask=None):
    scale = q.shape[-1] ** -0.5
    scores = q @ k.transpose(0, 1) * scale
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    p = torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1)
    p = p.masked_fill(~mask, 0.0)
    grad_p = grad_out @ v.transpose(0, 1)
    grad_scores = p * (grad_p - (p * grad_p).sum(-1, keepdim=True)) * scale
    return grad_scores @ k, grad_scores.transpose(0, 1) @ q, p.transpose(0, 1) @ grad_out
