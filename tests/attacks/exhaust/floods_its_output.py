"""Line 47. Prints without end, to every place there is.

Variants: stdout stderr descriptor buffer
Expected: softmax=wrong|timeout|pass
Score at most: softmax=0.4
"""

import os
import sys


def softmax(x, dim=-1):
    block = "x" * (1 << 20)
    for _ in range(200):
        if VARIANT == "stdout":
            print(block)
        elif VARIANT == "stderr":
            print(block, file=sys.stderr)
        elif VARIANT == "descriptor":
            os.write(1, block.encode())
        else:
            sys.__stdout__.buffer.write(block.encode() + bytes([255]))
    return x
