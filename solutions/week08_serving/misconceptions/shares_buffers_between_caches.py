"""Shares its buffers with other caches.

Exercise: KVCache
Believes: What all methods use belongs in the class.
Shows: A second cache of the same size writes over the first.
Hint: Each layer has a separate cache. What do two objects of your class have in common?
Rejected by: test_caches_are_apart
Costs: 35 %
"""


class KVCache:
    _buffers = {}

    def __init__(self, batch, n_kv_heads, max_len, d, dtype=torch.float32, device=None):
        shape = (batch, n_kv_heads, max_len, d)
        if shape not in self._buffers or self._buffers[shape][0].dtype != dtype or device:
            self._buffers[shape] = [torch.zeros(shape, dtype=dtype, device=device) for _ in "kv"]
        self.keys, self.values = self._buffers[shape]
        self._buffers[shape + ("length",)] = 0
        self.shape = shape

    @property
    def length(self):
        return self._buffers[self.shape + ("length",)]

    def append(self, k, v):
        end = self.length + k.shape[2]
        if end > self.keys.shape[2]:
            raise ValueError(f"{end} positions do not fit")
        self.keys[:, :, self.length : end] = k.detach()
        self.values[:, :, self.length : end] = v.detach()
        self._buffers[self.shape + ("length",)] = end
        return self.keys[:, :, :end], self.values[:, :, :end]
