"""Deals the features out to the heads in turn: head h gets every H-th feature.

Exercise: GroupedQueryAttention
Believes: view(B, s, d, H) and view(B, s, H, d) differ in a transpose only.
Shows: Every output differs.
Hint: Head h owns the features h·d … (h+1)·d - 1. `_split_heads` is in your stub.
Rejected by: test_without_a_cache
Costs: 30 %
"""

_in_blocks = _split_heads


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        global _split_heads
        _split_heads = lambda x, heads: _in_blocks(
            x.unflatten(-1, (-1, heads)).transpose(-2, -1).flatten(-2), heads
        )
        try:
            return super().forward(x, cache)
        finally:
            _split_heads = _in_blocks
