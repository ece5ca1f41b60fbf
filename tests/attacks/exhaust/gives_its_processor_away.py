"""Line 37. Waits in ways that could pass for waiting its turn: yields, faults, signals to itself.

Variants: yields faults signals
Expected: softmax=timeout|limit
Score at most: softmax=0
"""

import mmap
import os
import signal


def softmax(x, dim=-1):
    signal.signal(signal.SIGUSR1, lambda *a: None)
    while True:
        if VARIANT == "yields":
            os.sched_yield()
        elif VARIANT == "faults":
            memory = mmap.mmap(-1, 1 << 20)
            memory[::4096] = b"x" * 256
            memory.close()
        else:
            os.kill(os.getpid(), signal.SIGUSR1)
