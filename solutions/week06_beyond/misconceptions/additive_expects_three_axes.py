"""Counts the axes from the front, as if there were exactly one batch axis.

Exercise: additive_attention
Believes: inputs have the shape (B, n, d).
Shows: right for one batch axis; errors or wrong pairs for none and for several.
Hint: Which axis is number 2 if the inputs have two leading dimensions, or none?
Rejected by: test_any_leading_dimensions
Costs: 30 %
"""


def additive_attention(q, k, v, W_q, W_k, u, mask=None):
    of_query, of_key = q @ W_q.transpose(0, 1), k @ W_k.transpose(0, 1)
    hidden = torch.tanh(of_query.unsqueeze(2) + of_key.unsqueeze(1))
    scores = hidden @ u
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        lowest = torch.finfo(scores.dtype).min
        weights = torch.softmax(scores.masked_fill(~mask, lowest), dim=-1)
        weights = weights.masked_fill(~mask, 0.0)
    return weights @ v, weights
