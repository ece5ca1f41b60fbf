"""Line 35. An audit hook of its own computes whenever the worker does something afterwards.

Expected: softmax=forbidden|crashed|wrong
Score at most: softmax=0
"""

import sys

_wanted = []


def _hook(event, arguments):
    if _wanted and event not in ("object.__getattr__",):
        x, dim, y = _wanted.pop()
        with torch.no_grad():
            y.copy_(torch.softmax(x, dim))


sys.addaudithook(_hook)


def softmax(x, dim=-1):
    y = torch.zeros_like(x)
    _wanted.append((x.detach(), dim, y))
    open("/dev/null").close()
    return y
