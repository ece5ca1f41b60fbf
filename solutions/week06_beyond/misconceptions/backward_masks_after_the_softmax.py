"""Sets hidden weights to zero after a softmax over all keys.

Exercise: attention_backward
Believes: a hidden key needs no more than a weight of zero.
Shows: with a mask, the gradients are too small: hidden keys took part in the softmax.
Hint: Add up a row of weights in which keys are hidden. Who got the rest?
Rejected by: test_masks
Costs: 30 %
"""


def attention_backward(q, k, v, grad_out, mask=None):
    scale = q.shape[-1] ** -0.5
    p = torch.softmax(q @ k.mT * scale, -1)
    if mask is not None:
        p = p.masked_fill(~mask, 0.0)
    grad_p = grad_out @ v.mT
    grad_scores = p * (grad_p - (p * grad_p).sum(-1, keepdim=True)) * scale
    return grad_scores @ k, grad_scores.mT @ q, p.mT @ grad_out
