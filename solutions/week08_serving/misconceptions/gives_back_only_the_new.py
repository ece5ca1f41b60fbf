"""Returns only the new keys and values.

Exercise: KVCache
Believes: append returns the stored tensors.
Shows: Attention sees the new positions alone.
Hint: The caller goes on with what append returns. What does a new query attend to?
Rejected by: test_everything_so_far
Costs: 45 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        keys, values = super().append(k, v)
        new = k.shape[2]
        return keys[:, :, -new:], values[:, :, -new:]
