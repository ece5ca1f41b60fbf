"""Refuses when the cache would become full.

Exercise: KVCache
Believes: The end must stay below max_len, as an index does.
Shows: max_len - 1 positions fit.
Hint: An end of a slice may equal the size. Try to fill a cache of one position.
Rejected by: test_filled_to_the_last_place
Costs: 25 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        if self.length + k.shape[2] >= self.keys.shape[2]:
            raise ValueError(f"{self.length + k.shape[2]} positions do not fit")
        return super().append(k, v)
