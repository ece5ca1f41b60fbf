"""Reads True in the mask as hidden.

Exercise: additive_attention
Believes: A mask says what is masked.
Shows: Every query sees exactly the keys that it must not see.
Hint: True means may attend, in every week.
Rejected by: test_masks
Costs: 25 %
"""


def additive_attention(q, k, v, W_q, W_k, u, mask=None):
    scores = torch.tanh((q @ W_q.mT).unsqueeze(-2) + (k @ W_k.mT).unsqueeze(-3)) @ u
    mask = torch.ones_like(scores, dtype=torch.bool) if mask is None else ~mask
    weights = torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1)
    weights = weights.masked_fill(~mask, 0.0)
    return weights @ v, weights
