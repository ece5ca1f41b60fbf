"""Adds 1 to `length` in every append.

Exercise: KVCache
Believes: An append is one token.
Shows: Right while decoding, wrong after a prompt.
Hint: A prompt is appended at once. How many positions has k, and on which axis?
Rejected by: test_everything_so_far
Costs: 40 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        end = self.length + k.shape[2]
        if end > self.keys.shape[2]:
            raise ValueError(f"{end} positions do not fit")
        self.keys[:, :, self.length : end] = k.detach()
        self.values[:, :, self.length : end] = v.detach()
        self.length += 1
        return self.keys[:, :, : self.length], self.values[:, :, : self.length]
