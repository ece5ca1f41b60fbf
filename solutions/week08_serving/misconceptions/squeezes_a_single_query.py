"""Removes axes of size 1.

Exercise: grouped_query_attention
Believes: A single query needs no axis.
Shows: (B, H, d_v) instead of (B, H, 1, d_v) while decoding.
Hint: The caller splits and merges by axes. n may be 1, and it stays an axis.
Rejected by: test_one_query
Costs: 25 %
"""

_grouped = grouped_query_attention


def grouped_query_attention(q, k, v, mask=None):
    output, weights = _grouped(q, k, v, mask)
    return (output.squeeze(2), weights.squeeze(2)) if q.shape[2] == 1 else (output, weights)
