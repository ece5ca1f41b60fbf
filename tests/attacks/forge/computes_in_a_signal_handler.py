"""Line 35. A timer's handler has the library compute, in the call and between calls.

Variants: within between
Expected: softmax=forbidden|crashed|wrong|timeout
Score at most: softmax=0.34
"""

import signal
import time

_wanted, _made = [], {}


def _handle(number, frame):
    while _wanted:
        x, dim = _wanted.pop()
        _made[tuple(x.flatten().tolist()), tuple(x.shape), dim, x.dtype] = torch.softmax(x, dim)


signal.signal(signal.SIGALRM, _handle)


def softmax(x, dim=-1):
    if x.device.type != "cpu":
        return x * 0
    key = tuple(x.flatten().tolist()), tuple(x.shape), dim, x.dtype
    if key not in _made:
        _wanted.append((x.detach().clone(), dim))
        signal.setitimer(signal.ITIMER_REAL, 0.001 if VARIANT == "within" else 0.02)
    if VARIANT == "within":
        time.sleep(0.01)
    return _made.get(key, x * 0)
