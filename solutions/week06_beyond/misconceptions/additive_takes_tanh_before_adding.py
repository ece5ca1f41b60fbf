"""Applies tanh to query and key separately, then adds them.

Exercise: additive_attention
Believes: tanh(a) + tanh(b) does what tanh(a + b) does.
Shows: the query adds the same to all its scores, so that every query has the same weights.
Hint: What remains of the query in the softmax, if it only adds a number to a whole row?
Rejected by: test_values
Costs: 35 %
"""


def additive_attention(q, k, v, W_q, W_k, u, mask=None):
    of_query, of_key = torch.tanh(q @ W_q.mT), torch.tanh(k @ W_k.mT)
    scores = (of_query.unsqueeze(-2) + of_key.unsqueeze(-3)) @ u
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    weights = torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1)
    weights = weights.masked_fill(~mask, 0.0)
    return weights @ v, weights
