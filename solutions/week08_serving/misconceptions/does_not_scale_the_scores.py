"""Computes scores that are not divided by √d.

Exercise: grouped_query_attention
Believes: Scaling belongs to multi-head attention.
Shows: Weights are too sharp, the more so the larger d is.
Hint: What is the variance of q·k? (Week 1.) Sharing keys does not change it.
Rejected by: test_scale
Costs: 30 %
"""

_grouped = grouped_query_attention


def grouped_query_attention(q, k, v, mask=None):
    return _grouped(q * math.sqrt(q.shape[-1]), k, v, mask)
