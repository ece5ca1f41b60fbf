"""Gives the values back before the keys.

Exercise: KVCache
Believes: The order of two results does not matter.
Shows: Keys and values change places.
Hint: Which of the two does the docstring name first?
Rejected by: test_everything_so_far
Costs: 30 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        return super().append(k, v)[::-1]
