"""Fills hidden scores with -inf and takes the softmax.

Exercise: grouped_query_attention
Believes: exp(-inf) is 0, so nothing can go wrong.
Shows: A query without a visible key is NaN, and so is every gradient.
Hint: What is -inf minus -inf? `_masked_softmax` is in your stub for this.
Rejected by: test_fully_masked_rows
Costs: 20 %
"""


def _masked_softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return torch.softmax(scores, dim=-1)


_grouped = grouped_query_attention


def grouped_query_attention(q, k, v, mask=None):
    return _grouped(q, k, v, mask)
