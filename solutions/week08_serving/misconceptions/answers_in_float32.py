"""Computes in float32 and forgets to go back.

Exercise: grouped_query_attention
Believes: float32 is what torch computes in.
Shows: float32 for half precision and for float64.
Hint: Computing in more than was given is fine. In which dtype does the caller want the result?
Rejected by: test_every_dtype
Costs: 20 %
"""

_grouped = grouped_query_attention


def grouped_query_attention(q, k, v, mask=None):
    return _grouped(q.float(), k.float(), v.float(), mask)
