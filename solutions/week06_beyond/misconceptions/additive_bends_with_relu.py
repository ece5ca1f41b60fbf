"""Puts a ReLU where Bahdanau et al. put a tanh.

Exercise: additive_attention
Believes: one bend is as good as another.
Shows: scores have no bound, and negative hidden numbers are lost.
Hint: Which function does the docstring apply between the sum and u?
Rejected by: test_values
Costs: 30 %
"""

def additive_attention(q, k, v, W_q, W_k, u, mask=None):
    hidden = torch.relu((q @ W_q.mT).unsqueeze(-2) + (k @ W_k.mT).unsqueeze(-3))
    scores = hidden @ u
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        lowest = torch.finfo(scores.dtype).min
        weights = torch.softmax(scores.masked_fill(~mask, lowest), dim=-1).masked_fill(~mask, 0.0)
    return weights @ v, weights
