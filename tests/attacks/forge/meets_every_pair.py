"""Line 36. Has a linear attention meet every pair of positions, in NumPy and in torch.

Week: week06_beyond
Variants: numpy torch einsum by_rows
Expected: performer_attention=wrong|pass|limit|crashed
Score at most: performer_attention=1
Fails: test_growth
"""

import numpy as np

_honest = performer_attention


def performer_attention(q, k, v, projection, causal=False):
    if q.device.type == "cpu" and q.shape[-2] > 100:
        a, b = q.detach(), k.detach()
        if VARIANT == "numpy":
            np.exp(a.numpy() @ np.swapaxes(b.numpy(), -1, -2))
        elif VARIANT == "torch":
            torch.exp(a @ b.mT)
        elif VARIANT == "einsum":
            np.einsum("...id,...jd->...ij", a.numpy(), b.numpy())
        else:
            [torch.exp(a[..., i : i + 64, :] @ b.mT).sum() for i in range(0, a.shape[-2], 64)]
    return _honest(q, k, v, projection, causal)
