"""Takes exp of the scores without subtracting the maximum.

Exercise: grouped_query_attention
Believes: Scores are of size 1.
Shows: Large scores give inf and NaN.
Hint: exp(100) does not fit into float16, and exp(800) not into float64. What can be subtracted from
    a row for free? (Week 1.)
Rejected by: test_large_scores
Costs: 25 %
"""


def _masked_softmax(scores, mask=None):
    e = torch.exp(scores)
    if mask is not None:
        e = e.masked_fill(~mask, 0.0)
    total = e.sum(-1, keepdim=True)
    return e / torch.where(total == 0, 1.0, total)


_grouped = grouped_query_attention


def grouped_query_attention(q, k, v, mask=None):
    return _grouped(q, k, v, mask)
