"""Scales the queries in place.

Exercise: grouped_query_attention
Believes: The caller does not need q afterwards.
Shows: The caller's queries are smaller after the call.
Hint: `*=` on an argument changes the caller's tensor. Make a new one.
Rejected by: test_views
Costs: 25 %
"""

_grouped = grouped_query_attention


def grouped_query_attention(q, k, v, mask=None):
    with torch.no_grad():
        q *= 1 / math.sqrt(q.shape[-1])
    return _grouped(q * math.sqrt(q.shape[-1]), k, v, mask)
