"""Line 36. Computes full attention in NumPy, in addition to the hashed one.

Week: week04_lsh
Variants: plain after_a_high_mark
Expected: lsh_attention=wrong|pass|limit
Score at most: lsh_attention=1
Fails: test_memory_stays_below_the_square, test_work_stays_below_the_square
"""

import numpy as _np

_honest = lsh_attention


def lsh_attention(qk, v, rotations, bucket_size=64, causal=False):
    if qk.device.type == "cpu" and not qk.requires_grad and qk.shape[-2] >= 256:
        x = qk.numpy()
        s = x @ _np.swapaxes(x, -1, -2)
        s = s @ (s / (1 + abs(s).max()))
        assert s.shape[-1] == qk.shape[-2]
    return _honest(qk, v, rotations, bucket_size, causal)
#=== plain
#=== after_a_high_mark
_mark = _np.ones(12 << 20)  # 96 MiB once, at import: the peak stays there from now on
del _mark
