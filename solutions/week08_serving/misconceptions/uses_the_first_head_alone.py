"""Lets all query heads use the first key-value head.

Exercise: grouped_query_attention
Believes: Grouped-query attention is multi-query attention.
Shows: Right for H_kv = 1 alone.
Hint: H_kv heads of keys came in. Which query heads use the second one?
Rejected by: test_groups_of_neighbours
Costs: 90 %
"""

_grouped = grouped_query_attention


def grouped_query_attention(q, k, v, mask=None):
    if q.shape[1] % k.shape[1]:
        raise ValueError(f"{q.shape[1]} query heads")
    return _grouped(q, k[:, :1], v[:, :1], mask)
