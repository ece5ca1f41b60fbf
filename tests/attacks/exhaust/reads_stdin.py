"""Line 39. Waits for input.

Variants: input read
Expected: softmax=crashed|wrong
Score at most: softmax=0
"""

import sys


def softmax(x, dim=-1):
    return input() if VARIANT == "input" else sys.stdin.read()
