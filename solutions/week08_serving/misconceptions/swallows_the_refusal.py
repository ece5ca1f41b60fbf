"""Catches the cache's error and goes on without the cache.

Exercise: GroupedQueryAttention
Believes: An answer is better than an error.
Shows: A full cache makes the model forget the text silently.
Hint: Who could do something about a full cache: the attention, or the one who called it?
Rejected by: test_a_full_cache
Costs: 20 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        try:
            return super().forward(x, cache)
        except ValueError:
            return super().forward(x)
