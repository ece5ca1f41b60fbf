"""Multiplies the weights by the mask after the softmax, and leaves their sum below one.

Exercise: additive_attention
Believes: a hidden key needs no more than a weight of zero.
Shows: the weights of the visible keys are too small: the hidden ones took part in the softmax.
Hint: Add up a row of weights in which keys are hidden. Who got the rest?
Rejected by: test_masks
Costs: 35 %
"""


def additive_attention(q, k, v, W_q, W_k, u, mask=None):
    hidden = torch.tanh((q @ W_q.mT).unsqueeze(-2) + (k @ W_k.mT).unsqueeze(-3))
    weights = torch.softmax(hidden @ u, dim=-1)
    if mask is not None:
        weights = weights * mask.to(weights.dtype)
    return weights @ v, weights
