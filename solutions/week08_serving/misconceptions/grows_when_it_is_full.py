"""Allocates larger buffers when it is full.

Exercise: KVCache
Believes: A list grows too.
Shows: No error; the cache exceeds its planned memory.
Hint: A server with many users plans its memory by max_len. What does the docstring require beyond
    it?
Rejected by: test_refuses_what_does_not_fit
Costs: 30 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        missing = self.length + k.shape[2] - self.keys.shape[2]
        if missing > 0:
            more = self.keys.new_zeros(*self.keys.shape[:2], missing, self.keys.shape[3])
            self.keys, self.values = (torch.cat([x, more], 2) for x in (self.keys, self.values))
        return super().append(k, v)
