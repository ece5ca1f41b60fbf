"""Divides by √d before `grouped_query_attention`, which divides again.

Exercise: GroupedQueryAttention
Believes: The module scales.
Shows: Weights are too even.
Hint: grouped_query_attention divides by the root of d already.
Rejected by: test_without_a_cache
Costs: 25 %
"""

_scaled_once = grouped_query_attention


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        global grouped_query_attention
        grouped_query_attention = lambda q, *rest: _scaled_once(q / math.sqrt(q.shape[-1]), *rest)
        try:
            return super().forward(x, cache)
        finally:
            grouped_query_attention = _scaled_once
