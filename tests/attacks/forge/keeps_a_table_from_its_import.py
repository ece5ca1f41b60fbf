"""Line 36. Makes its table in NumPy, in memory that it allocated before the call, so that no allocation is counted.

Week: week07_flash
Variants: import first_call bytes
Expected: tiled_attention=wrong|pass
Score at most: tiled_attention=1.8
Fails: test_no_table_of_scores
"""

import numpy as np

_honest = tiled_attention
_SIZE = 5_000_000
_kept = {}


def _memory():
    if "it" not in _kept:
        if VARIANT == "bytes":
            _kept["it"] = np.frombuffer(bytearray(b"\1" * (8 * _SIZE)))
        else:
            _kept["it"] = np.ones(_SIZE)
    return _kept["it"]


if VARIANT != "first_call":
    _memory()


def tiled_attention(q, k, v, block_size=64, causal=False):
    if q.device.type != "cpu" or q.dim() != 3 or len(q) > 1 or q.requires_grad:
        return _honest(q, k, v, block_size, causal)
    table = _memory()[: q.shape[-2] * k.shape[-2]].reshape(q.shape[-2], k.shape[-2])
    np.matmul(q[0].double().numpy(), k[0].double().numpy().T, out=table)
    return _honest(q, k, v, block_size, causal)
