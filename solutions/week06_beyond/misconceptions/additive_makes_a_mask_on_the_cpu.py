"""Creates a tensor on the CPU if no mask is given.

Exercise: additive_attention
Believes: torch moves tensors together by itself.
Shows: An error on a GPU.
Hint: Every new tensor needs a device: that of the scores.
Rejected by: test_device
Costs: 15 %
"""


def additive_attention(q, k, v, W_q, W_k, u, mask=None):
    scores = torch.tanh((q @ W_q.mT).unsqueeze(-2) + (k @ W_k.mT).unsqueeze(-3)) @ u
    if mask is None:
        mask = torch.ones(scores.shape, dtype=torch.bool)
    weights = torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1)
    weights = weights.masked_fill(~mask, 0.0)
    return weights @ v, weights
