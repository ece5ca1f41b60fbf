"""Line 18. Leaves the process in the hope that silence is success.

Variants: sys_exit os_exit atexit quit signal
Expected: softmax=crashed
Score at most: softmax=0
"""

import atexit
import os
import sys


def softmax(x, dim=-1):
    if VARIANT == "sys_exit":
        sys.exit(0)
    if VARIANT == "os_exit":
        os._exit(0)
    if VARIANT == "atexit":
        atexit.register(lambda: os.write(3, b"ok" * 100))
        raise SystemExit
    if VARIANT == "quit":
        raise KeyboardInterrupt
    os.kill(os.getpid(), 15)
    os.abort()
