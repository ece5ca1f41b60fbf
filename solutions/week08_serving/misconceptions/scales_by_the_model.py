"""Divides by the root of H·d.

Exercise: grouped_query_attention
Believes: d in the formula is the width of the model.
Shows: Weights are too even, the more so the more heads there are.
Hint: A score sums d products, one per feature of the head.
Rejected by: test_scale
Costs: 30 %
"""

_grouped = grouped_query_attention


def grouped_query_attention(q, k, v, mask=None):
    return _grouped(q / math.sqrt(q.shape[1]), k, v, mask)
