"""Gives hidden entries a score of 0, or one very close to it.

Exercise: additive_attention
Believes: a number close to zero hides an entry.
Shows: hidden entries get the weight of a score of 0.
Hint: What is the exponential of the score that your hidden entries get? Which scores become weights
of 0?
Rejected by: test_masks
Costs: 35 %
"""


def additive_attention(q, k, v, W_q, W_k, u, mask=None):
    hidden = torch.tanh((q @ W_q.T).unsqueeze(-2) + (k @ W_k.T).unsqueeze(-3))
    scores = hidden @ u
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e-12)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
