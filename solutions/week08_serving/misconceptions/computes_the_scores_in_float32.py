"""Casts the queries to float32 and leaves the rest.

Exercise: GroupedQueryAttention
Believes: Scores should be precise.
Shows: An error, or another dtype, for halves and float64.
Hint: If you compute in more, convert everything, and convert the result back.
Rejected by: test_every_dtype
Costs: 20 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        return super().forward(x, cache).float()
