"""Writes the values of every append at the beginning of their buffer.

Exercise: KVCache
Believes: A slice of the right length is the right slice.
Shows: length is right, but the first values are those of the last append.
Hint: Two appends of one position each: which places of the buffer of values are written?
Rejected by: test_everything_so_far
Costs: 40 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        new = k.shape[2]
        if self.length + new > self.keys.shape[2]:
            raise ValueError(f"{self.length + new} positions do not fit")
        end = self.length + new
        self.values[:, :, :new] = v.detach()
        self.keys[:, :, self.length : end] = k.detach()
        self.length = end
        return self.keys[:, :, : self.length], self.values[:, :, : self.length]
