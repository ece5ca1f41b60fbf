"""Removes all axes of size 1 from the scores.

Exercise: additive_attention
Believes: squeeze removes the axis that u has reduced.
Shows: Right for most shapes; an error or a lost axis for a single query or key.
Hint: A product with the vector u takes its axis away by itself. What else does squeeze take?
Rejected by: test_singleton_axes
Costs: 25 %
"""


def additive_attention(q, k, v, W_q, W_k, u, mask=None):
    hidden = torch.tanh((q @ W_q.mT).unsqueeze(-2) + (k @ W_k.mT).unsqueeze(-3))
    scores = (hidden @ u.unsqueeze(-1)).squeeze()
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    weights = torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1)
    weights = weights.masked_fill(~mask, 0.0)
    return weights @ v, weights
