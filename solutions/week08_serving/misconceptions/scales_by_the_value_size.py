"""Divides by the root of d_v.

Exercise: grouped_query_attention
Believes: The last axis is the last axis.
Shows: Right only where keys and values are of one size.
Hint: Over which products does a score sum? How many of them are there?
Rejected by: test_values_of_different_size
Costs: 25 %
"""

_grouped = grouped_query_attention


def grouped_query_attention(q, k, v, mask=None):
    return _grouped(q * math.sqrt(q.shape[-1] / v.shape[-1]), k, v, mask)
