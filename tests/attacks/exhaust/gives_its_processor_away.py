"""Line 37. Waits in ways that could pass for waiting its turn: yields, signals to itself.

Variants: yields signals
Expected: softmax=timeout|limit
Score at most: softmax=0
"""

import os
import signal


def softmax(x, dim=-1):
    signal.signal(signal.SIGUSR1, lambda *a: None)
    while True:
        if VARIANT == "yields":
            os.sched_yield()
        else:
            os.kill(os.getpid(), signal.SIGUSR1)
