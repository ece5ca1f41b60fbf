"""Line 50. Opens descriptors until there are none.

Expected: softmax=crashed
Score at most: softmax=0
"""

import os


def softmax(x, dim=-1):
    kept = []
    while True:
        kept.append(open("/dev/null") if len(kept) % 2 else os.pipe())
