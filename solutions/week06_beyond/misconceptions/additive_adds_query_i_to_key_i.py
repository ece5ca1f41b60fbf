"""Adds query i to key i, where every query meets every key.

Exercise: additive_attention
Believes: the two hidden vectors are added like any two tensors.
Shows: an error wherever there are not as many queries as keys.
Hint: How many pairs are there? Which shape must the hidden vectors of all pairs have?
Rejected by: test_values
Costs: 35 %
"""


def additive_attention(q, k, v, W_q, W_k, u, mask=None):
    hidden = torch.tanh(q @ W_q.transpose(0, 1) + k @ W_k.transpose(0, 1))
    scores = (hidden @ u).unsqueeze(-2)
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    return weights @ v, weights
