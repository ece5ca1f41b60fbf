"""Line 49. Dies in native code.

Variants: segfault abort recursion native_recursion parser
Expected: softmax=crashed|limit|timeout|forbidden
Score at most: softmax=0
"""

import os
import sys


def softmax(x, dim=-1):
    if VARIANT == "segfault":
        return np.lib.stride_tricks.as_strided(np.ones(1), (1 << 20,), (1 << 20,)).sum()
    if VARIANT == "abort":
        os.abort()
    if VARIANT == "recursion":
        sys.setrecursionlimit(10**9)
        return softmax(x, dim)
    if VARIANT == "native_recursion":
        sys.setrecursionlimit(10**9)
        value = []
        for _ in range(10**6):
            value = [value]
        return str(value)
    return compile("(" * 10**5, "x", "eval")
