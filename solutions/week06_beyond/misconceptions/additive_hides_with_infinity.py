"""Returns NaN for a query with no visible key.

Exercise: additive_attention
Believes: exp(-inf) is 0, so nothing can go wrong.
Shows: A query without a visible key is NaN, and so is every gradient.
Hint: What does your softmax do with a row in which every key is hidden? Week 2 had a way out.
Rejected by: test_fully_masked_rows
Costs: 20 %
"""


def additive_attention(q, k, v, W_q, W_k, u, mask=None):
    scores = torch.tanh((q @ W_q.mT).unsqueeze(-2) + (k @ W_k.mT).unsqueeze(-3)) @ u
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = torch.softmax(scores, -1)
    return weights @ v, weights
