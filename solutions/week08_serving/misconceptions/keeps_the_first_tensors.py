"""Keeps the tensors of the prompt themselves.

Exercise: KVCache
Believes: The prompt's keys are in memory already.
Shows: The caller's tensors and the cache are one; what the caller does with them changes the cache.
Hint: The caller may reuse its tensors. Copy what is new into your own buffers, in every append.
Rejected by: test_input_stays_the_callers
Costs: 30 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        if self.length + k.shape[2] > self.keys.shape[2]:
            raise ValueError(f"{self.length + k.shape[2]} positions do not fit")
        if self.length:
            keys, values = torch.cat([self.first[0], k], 2), torch.cat([self.first[1], v], 2)
        else:
            keys, values = k.to(self.keys), v.to(self.values)
        self.first, self.length = (keys, values), self.length + k.shape[2]
        return keys, values
