"""Line 40. Ignores and blocks every signal, then loops.

Expected: softmax=timeout
Score at most: softmax=0
"""

import signal

for _number in signal.valid_signals():
    try:
        signal.signal(_number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())


def softmax(x, dim=-1):
    while True:
        pass
