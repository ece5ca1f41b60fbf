"""Multiplies the features of queries and keys with each other first, into an n x m matrix.

Exercise: performer_attention
Believes: features make attention cheap by themselves.
Shows: right values; work and memory grow with the square of the length, as they did before.
Hint: A product of three matrices can be computed in two orders. What is the size of the
    intermediate result?
Rejected by: test_growth
Costs: 40 %
"""


def performer_attention(q, k, v, projection, causal=False):
    queries, keys = torch.exp(_exponents(q, projection)), torch.exp(_exponents(k, projection))
    weights = queries @ keys.transpose(-2, -1)
    if causal:
        weights = weights.tril()
    return (weights @ _wide(v) / weights.sum(dim=-1, keepdim=True)).to(q.dtype)
