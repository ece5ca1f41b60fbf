"""Divides the scores by the root of the hidden size.

Exercise: additive_attention
Believes: Scores are always divided by a root.
Shows: Weights are too even, the more so the more hidden numbers there are.
Hint: What does the root do for q·k, and what bounds the score here? The docstring's formula has no
    root.
Rejected by: test_values
Costs: 30 %
"""


def additive_attention(q, k, v, W_q, W_k, u, mask=None):
    return _scored(q, k, v, W_q, W_k, u / math.sqrt(len(u)), mask)


def _scored(q, k, v, W_q, W_k, u, mask):
    hidden = torch.tanh((q @ W_q.mT).unsqueeze(-2) + (k @ W_k.mT).unsqueeze(-3))
    scores = hidden @ u
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    weights = torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1)
    weights = weights.masked_fill(~mask, 0.0)
    return weights @ v, weights
