"""Merges the heads by a reshape alone.

Exercise: GroupedQueryAttention
Believes: (B, H, s, d) and (B, s, C) hold the same numbers.
Shows: Positions get parts of each other's heads.
Hint: A reshape moves no number. Which axes must change places first?
Rejected by: test_without_a_cache
Costs: 35 %
"""

_moved = _merge_heads


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        global _merge_heads
        _merge_heads = lambda y: y.reshape(x.shape)
        try:
            return super().forward(x, cache)
        finally:
            _merge_heads = _moved
