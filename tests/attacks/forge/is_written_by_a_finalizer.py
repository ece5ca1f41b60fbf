"""Line 35. Writes the result in the finalizer of an object of the call.

Variants: del weakref finalize cycle
Expected: softmax=forbidden|crashed|wrong
Score at most: softmax=0
"""

import weakref


class _Held:
    def __init__(self, work):
        self.work = work

    def __del__(self):
        if VARIANT == "del":
            self.work()


def softmax(x, dim=-1):
    y = torch.zeros_like(x)

    def work():
        with torch.no_grad():
            y.copy_(torch.softmax(x.detach(), dim))

    held = _Held(work)
    if VARIANT == "weakref":
        y.callback = weakref.ref(held, lambda _: work())
    if VARIANT == "finalize":
        weakref.finalize(held, work)
    if VARIANT == "cycle":
        held.me = held
        _Held.__del__ = lambda self: self.work()
    y.held = held if VARIANT == "cycle" else None
    return y
