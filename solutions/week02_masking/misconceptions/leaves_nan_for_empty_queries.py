"""Returns NaN for a query with no visible key.

Exercise: scaled_dot_product_attention
Believes: a softmax of -inf is always zero.
Shows: NaN in the output and weights of such a query, and in all gradients.
Hint: You wrote a softmax this week that knows what to do with empty rows.
Rejected by: test_query_that_sees_nothing
Costs: 25 %
Belief: empty_rows
"""


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = torch.softmax(
        scores if mask is None else scores.masked_fill(~mask, float("-inf")), dim=-1
    )
    return weights @ v, weights
