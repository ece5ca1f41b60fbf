"""Ignores `device`, so that the buffers are on the CPU.

Exercise: KVCache
Believes: torch finds the device by itself.
Shows: Buffers on the CPU, keys on the GPU.
Hint: A tensor is created on the CPU by default. Pass the device on to both buffers.
Rejected by: test_device
Costs: 15 %
"""


class KVCache(KVCache):
    def __init__(self, batch, n_kv_heads, max_len, d, dtype=torch.float32, device=None):
        super().__init__(batch, n_kv_heads, max_len, d, dtype)
