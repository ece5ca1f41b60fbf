"""Leaves the tanh out.

Exercise: additive_attention
Believes: The tanh is there for the training only.
Shows: All queries get the same weights.
Hint: Without tanh the score is a number that depends on the query plus one that depends on the key.
    What does a softmax do with the first?
Rejected by: test_values
Costs: 40 %
"""


def additive_attention(q, k, v, W_q, W_k, u, mask=None):
    scores = ((q @ W_q.mT).unsqueeze(-2) + (k @ W_k.mT).unsqueeze(-3)) @ u
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    weights = torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1)
    weights = weights.masked_fill(~mask, 0.0)
    return weights @ v, weights
