"""Multiplies the hidden vectors of query and key.

Exercise: additive_attention
Believes: Attention multiplies queries and keys.
Shows: Nearly every weight is wrong.
Hint: This attention is called additive. What is added?
Rejected by: test_values
Costs: 35 %
"""


def additive_attention(q, k, v, W_q, W_k, u, mask=None):
    scores = torch.tanh((q @ W_q.mT).unsqueeze(-2) * (k @ W_k.mT).unsqueeze(-3)) @ u
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    weights = torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1)
    weights = weights.masked_fill(~mask, 0.0)
    return weights @ v, weights
