"""Lets a query with no visible key attend to everything evenly.

Exercise: scaled_dot_product_attention
Believes: a very low score for all keys leaves no weight for any.
Shows: weights of 1/m and the mean of all values for such a query.
Hint: A softmax only sees differences. What does it make of scores that are all equally low?
Rejected by: test_query_that_sees_nothing
Costs: 25 %
Belief: empty_rows
"""


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = torch.softmax(
        scores if mask is None else scores.masked_fill(~mask, torch.finfo(scores.dtype).min), dim=-1
    )
    return weights @ v, weights
