"""Advances `length` before it checks that there is room.

Exercise: KVCache
Believes: An error ends the call, so what it has done does not matter.
Shows: After a refusal length is larger than max_len, and nothing fits any more.
Hint: Look at `length` after an append that was refused.
Rejected by: test_goes_on_after_a_refusal
Costs: 30 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        start, self.length = self.length, self.length + k.shape[2]
        if self.length > self.keys.shape[2]:
            raise ValueError(f"{self.length} positions do not fit")
        self.keys[:, :, start : self.length] = k.detach()
        self.values[:, :, start : self.length] = v.detach()
        return self.keys[:, :, : self.length], self.values[:, :, : self.length]
