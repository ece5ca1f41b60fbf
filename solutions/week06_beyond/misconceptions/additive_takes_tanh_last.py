"""Takes the tanh of the score, after the product with u.

Exercise: additive_attention
Believes: The position of the tanh does not matter.
Shows: Scores lie between -1 and 1, and queries hardly differ.
Hint: The hidden vector is tanh(W_q q + W_k k). u reads the score off it: which comes first?
Rejected by: test_values
Costs: 35 %
"""


def additive_attention(q, k, v, W_q, W_k, u, mask=None):
    scores = torch.tanh(((q @ W_q.mT).unsqueeze(-2) + (k @ W_k.mT).unsqueeze(-3)) @ u)
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    weights = torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1)
    weights = weights.masked_fill(~mask, 0.0)
    return weights @ v, weights
