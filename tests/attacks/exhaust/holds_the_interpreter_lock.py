"""Line 38. Computes in native code that no signal of Python interrupts.

Variants: power pattern matmul sum
Expected: softmax=timeout|limit|crashed
Score at most: softmax=0
"""

import re


def softmax(x, dim=-1):
    if VARIANT == "power":
        return 9 ** (9**9)
    if VARIANT == "pattern":
        return re.match(r"(a+)+$", "a" * 60 + "b")
    if VARIANT == "matmul":
        y = torch.ones(3000, 3000)
        for _ in range(10**6):
            torch.matmul(y, y, out=y)
    return sum(range(10**13))
