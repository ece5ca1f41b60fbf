"""Writes the keys into both buffers.

Exercise: KVCache
Believes: the second line is the first with another name (a slip in a line that was copied).
Shows: The returned values are the keys.
Hint: Compare what you write into the second buffer with what you were given.
Rejected by: test_everything_so_far
Costs: 35 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        return super().append(k, k)
