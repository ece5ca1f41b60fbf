"""Relies on an error from a copy to notice that the cache is full.

Exercise: KVCache
Believes: tensors of different sizes cannot be copied into each other.
Shows: a single position broadcasts into the empty slice of a full cache: no error, no data, and
    `length` grows beyond max_len.
Hint: A full cache leaves an empty slice. What does broadcasting do with one position and zero places?
Rejected by: test_refuses_one_more
Costs: 20 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        end = self.length + k.shape[2]
        try:
            self.keys[:, :, self.length : end].copy_(k.detach())
            self.values[:, :, self.length : end].copy_(v.detach())
        except RuntimeError as error:
            raise ValueError(f"{end} positions do not fit") from error
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]
