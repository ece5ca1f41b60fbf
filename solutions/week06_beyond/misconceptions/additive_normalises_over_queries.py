"""Takes the softmax over the queries.

Exercise: additive_attention
Believes: Any axis of the table will do.
Shows: Columns of the weights sum to 1, not rows.
Hint: A query distributes its attention over keys. Look at the row sums.
Rejected by: test_values
Costs: 35 %
"""


def additive_attention(q, k, v, W_q, W_k, u, mask=None):
    scores = torch.tanh((q @ W_q.mT).unsqueeze(-2) + (k @ W_k.mT).unsqueeze(-3)) @ u
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    weights = torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -2)
    weights = weights.masked_fill(~mask, 0.0)
    return weights @ v, weights
