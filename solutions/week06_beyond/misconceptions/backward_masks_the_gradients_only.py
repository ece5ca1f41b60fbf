"""Hides keys in the gradient of the scores, and leaves the weights as they are.

Exercise: attention_backward
Believes: the mask belongs where the gradient of the scores is computed.
Shows: with a mask, hidden values get a gradient, and visible keys a wrong one.
Hint: Which weights did the forward pass use? Does a hidden value have an influence on the output?
Rejected by: test_masks
Costs: 30 %
"""


def attention_backward(q, k, v, grad_out, mask=None):
    scale = q.shape[-1] ** -0.5
    p = torch.softmax(q @ k.mT * scale, -1)
    grad_p = grad_out @ v.mT
    grad_scores = p * (grad_p - (p * grad_p).sum(-1, keepdim=True)) * scale
    if mask is not None:
        grad_scores = grad_scores.masked_fill(~mask, 0.0)
    return grad_scores @ k, grad_scores.mT @ q, p.mT @ grad_out
