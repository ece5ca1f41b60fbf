"""Uses `view` on queries that need not lie in order.

Exercise: grouped_query_attention
Believes: view and reshape are the same.
Shows: An error for queries whose heads were split by a transpose.
Hint: After a transpose the numbers do not lie in the order of the axes. reshape copies where it
    must.
Rejected by: test_views
Costs: 20 %
"""

_grouped = grouped_query_attention


def grouped_query_attention(q, k, v, mask=None):
    q = q.view(q.shape[0], -1).view(q.shape)
    return _grouped(q, k, v, mask)
