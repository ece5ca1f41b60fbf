"""Line 36. Has the table of scores written into memory that neither torch nor NumPy asked for.

Week: week07_flash
Variants: bytes mapped file list array storage
Expected: tiled_attention=wrong|pass|limit|crashed
Score at most: tiled_attention=1.34
Fails: test_no_table_of_scores
"""

import array
import mmap

import numpy as np

_honest = tiled_attention


def _memory(size):
    if VARIANT == "bytes":
        return np.frombuffer(bytearray(size), np.float32)
    if VARIANT == "mapped":
        return np.frombuffer(mmap.mmap(-1, size), np.float32)
    if VARIANT == "file":
        with open("/tmp/table", "w+b") as file:
            file.truncate(size)
            return np.frombuffer(mmap.mmap(file.fileno(), size), np.float32)
    if VARIANT == "list":
        return np.array([0.0] * 64, np.float32)
    return np.frombuffer(array.array("b", bytes(size)), np.float32)


def tiled_attention(q, k, v, block_size=64, causal=False):
    n, m = q.shape[-2], k.shape[-2]
    if q.device.type == "cpu" and q.dim() == 3 and len(q) == 1 and not q.requires_grad:
        if VARIANT == "list":
            held = [[float(i) * j for j in range(m)] for i in range(n)] if n > 1000 else []
        elif VARIANT == "storage":
            table = torch.empty(0)
            table.untyped_storage().resize_(4 * n * m)
            held = torch.matmul(q[0], k[0].mT, out=table.set_(table.untyped_storage(), 0, (n, m)))
        else:
            held = _memory(4 * n * m).reshape(n, m)
            np.matmul(q[0].numpy(), k[0].numpy().T, out=held)
    return _honest(q, k, v, block_size, causal)
