"""Fills hidden scores with a large negative number and takes the softmax.

Exercise: grouped_query_attention
Believes: A large negative number is as good as -inf and is safe.
Shows: A query without a visible key looks at all keys equally.
Hint: If all scores of a row are the same large negative number, what are its weights?
Rejected by: test_fully_masked_rows
Costs: 20 %
"""


def _masked_softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e4)
    return torch.softmax(scores, dim=-1)


_grouped = grouped_query_attention


def grouped_query_attention(q, k, v, mask=None):
    return _grouped(q, k, v, mask)
