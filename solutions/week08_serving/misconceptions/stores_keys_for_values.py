"""Returns the keys in the place of the values, too.

Exercise: KVCache
Believes: the second line is the first with another name (a slip in a line that was copied).
Shows: The returned values are the keys.
Hint: Compare the second result with what you were given. Are the values lost when they are
    written, or when they are returned?
Rejected by: test_everything_so_far
Costs: 35 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        return super().append(k, k)
