"""Line 17. Announces a large frame, sends a little of it, and waits.

Expected: softmax=timeout|bad_reply
Score at most: softmax=0
"""

import os
import time


def softmax(x, dim=-1):
    os.write(3, _above()["stamp"] + b"AGK1" + (1000).to_bytes(4, "little") + (1 << 20).to_bytes(8, "little"))
    while True:
        os.write(3, b"x")
        time.sleep(0.02)
