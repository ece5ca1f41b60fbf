"""Line 36. Makes no tensor of the table's size: one grows, is viewed as larger, or is written to.

Week: week07_flash
Variants: resized frombuffer storage out_of_nothing
Expected: tiled_attention=wrong|pass|limit|crashed
Score at most: tiled_attention=1.34
Fails: test_no_table_of_scores
"""

_honest = tiled_attention


def _room(n, m):
    if VARIANT == "resized":
        return torch.empty(1).resize_(n, m)
    if VARIANT == "frombuffer":
        return torch.frombuffer(bytearray(4 * n * m), dtype=torch.float32).view(n, m)
    if VARIANT == "storage":
        return torch.tensor([]).set_(torch.UntypedStorage(4 * n * m), 0, (n, m), (m, 1))
    return torch.empty(0)


def tiled_attention(q, k, v, block_size=64, causal=False):
    n, m = q.shape[-2], k.shape[-2]
    if q.device.type == "cpu" and q.dim() == 3 and len(q) == 1 and q.dtype == torch.float32:
        with torch.no_grad():
            torch.matmul(q[0], k[0].mT, out=_room(n, m))
    return _honest(q, k, v, block_size, causal)
