"""Gives back what was just appended.

Exercise: KVCache
Believes: append gives back what it stored.
Shows: Attention sees the new positions alone.
Hint: The caller goes on with what append returns. What does a new query attend to?
Rejected by: test_everything_so_far
Costs: 60 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        keys, values = super().append(k, v)
        new = k.shape[2]
        return keys[:, :, -new:], values[:, :, -new:]
