"""Computes q·k/d as the scores.

Exercise: grouped_query_attention
Believes: The scale is d.
Shows: Weights are too flat, the more so the larger d is.
Hint: The scores are sums of d products. How does their standard deviation grow with d?
Rejected by: test_scale
Costs: 25 %
"""

_grouped = grouped_query_attention


def grouped_query_attention(q, k, v, mask=None):
    return _grouped(q / math.sqrt(q.shape[-1]), k, v, mask)
