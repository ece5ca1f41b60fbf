"""Makes `length` a method.

Exercise: KVCache
Believes: One asks an object by calling it.
Shows: `cache.length` is a method, not a number.
Hint: The docstring lists `length` under attributes. A plain attribute will do, or a property.
Rejected by: test_length_counts_positions
Costs: 20 %
"""


class KVCache:
    def __init__(self, batch, n_kv_heads, max_len, d, dtype=torch.float32, device=None):
        shape = (batch, n_kv_heads, max_len, d)
        self.keys = torch.zeros(shape, dtype=dtype, device=device)
        self.values = torch.zeros(shape, dtype=dtype, device=device)
        self.filled = 0

    def length(self):
        return self.filled

    def append(self, k, v):
        end = self.filled + k.shape[2]
        if end > self.keys.shape[2]:
            raise ValueError(f"{end} positions do not fit")
        self.keys[:, :, self.filled : end] = k.detach()
        self.values[:, :, self.filled : end] = v.detach()
        self.filled = end
        return self.keys[:, :, :end], self.values[:, :, :end]
