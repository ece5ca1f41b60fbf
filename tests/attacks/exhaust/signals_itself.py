"""Line 40. Stops, kills or interrupts its own process.

Variants: stops kills aborts quits interrupts traps alarm group
Expected: softmax=crashed|timeout|limit
Score at most: softmax=0
"""

import os
import signal


def softmax(x, dim=-1):
    number = {
        "stops": signal.SIGSTOP,
        "kills": signal.SIGKILL,
        "aborts": signal.SIGABRT,
        "quits": signal.SIGQUIT,
        "interrupts": signal.SIGINT,
        "traps": signal.SIGTRAP,
        "alarm": signal.SIGXCPU,
        "group": signal.SIGTERM,
    }[VARIANT]
    os.kill(os.getpid(), number)
    raise ValueError
