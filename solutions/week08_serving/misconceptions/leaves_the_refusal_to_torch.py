"""Does not check, so torch complains about shapes.

Exercise: KVCache
Believes: An error is an error.
Shows: RuntimeError about sizes of tensors instead of a ValueError.
Hint: The caller wants to know that the cache is full. What does it read in torch's message?
Rejected by: test_refuses_what_does_not_fit
Costs: 20 %
"""


class KVCache(KVCache):
    def append(self, k, v):
        end = self.length + k.shape[2]
        self.keys[:, :, self.length : end] = k.detach()
        self.values[:, :, self.length : end] = v.detach()
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]
