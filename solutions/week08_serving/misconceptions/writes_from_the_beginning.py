"""Writes every append at the beginning of the buffers.

Exercise: KVCache
Believes: A slice of the right length is the right slice.
Shows: length is right, but the first positions hold the last append.
Hint: Two appends of one position each: which places of the buffer are written?
Rejected by: test_everything_so_far
Costs: 45 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        new = k.shape[2]
        if self.length + new > self.keys.shape[2]:
            raise ValueError(f"{self.length + new} positions do not fit")
        self.keys[:, :, :new], self.values[:, :, :new] = k.detach(), v.detach()
        self.length += new
        return self.keys[:, :, : self.length], self.values[:, :, : self.length]
