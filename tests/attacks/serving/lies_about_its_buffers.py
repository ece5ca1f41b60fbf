"""Line 36. Concatenates or copies everything in each append, and claims that these are the two buffers.

Week: week08_serving
Variants: attributes patches copies
Expected: KVCache=wrong|crashed|limit
Score at most: KVCache=2.8
Fails: test_old_positions_are_not_copied
"""


class _Liar:
    def data_ptr(self):
        return 1000


class KVCache:
    def __init__(self, batch, n_kv_heads, max_len, d, dtype=torch.float32, device=None):
        shape = (batch, n_kv_heads, max_len, d)
        self.buffers = [torch.zeros(shape, dtype=dtype, device=device) for _ in range(2)]
        self.parts, self.length, self.most = [], 0, max_len

    def append(self, k, v):
        end = self.length + k.shape[2]
        if end > self.most:
            raise ValueError(f"{end} positions are too many")
        self.length = end
        self.parts.append([x.detach().to(self.buffers[0].dtype) for x in (k, v)])
        if VARIANT == "copies":
            for buffer, parts in zip(self.buffers, zip(*self.parts, strict=True), strict=True):
                at = 0
                for part in parts:
                    for place in range(part.shape[2]):
                        buffer[:, :, at] = part[:, :, place]
                        at += 1
            return tuple(b[:, :, :end] for b in self.buffers)
        joined = [torch.cat(parts, dim=2) for parts in zip(*self.parts, strict=True)]
        for number, x in enumerate(joined):
            if VARIANT == "attributes":
                x.data_ptr = lambda number=number: number
                x.untyped_storage = _Liar
        if VARIANT == "patches":
            torch.Tensor.data_ptr = lambda self: 7
        return tuple(joined)
