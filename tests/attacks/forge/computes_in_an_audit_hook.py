"""Line 35. Adds an audit hook that computes whenever the worker acts later.

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
