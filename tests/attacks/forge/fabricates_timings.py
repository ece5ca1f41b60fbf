"""Line 36. Sets clocks back and sleeps, so that slow work would look fast.

Expected: softmax=timeout
Score at most: softmax=0
"""

import time

_honest = softmax
time.monotonic = time.perf_counter = time.process_time = lambda: 0.0


def softmax(x, dim=-1):
    time.sleep(3)
    return _honest(x, dim)
