"""Line 34. Returns an empty tensor and writes correct values into its memory later.

Variants: next_call timer view file mapped swapped
Expected: softmax=wrong|crashed|forbidden|bad_reply
Score at most: softmax=0.4
"""

import mmap
import signal

_owed = []


def _mine(x, dim):
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)


def _pay(*_):
    while _owed:
        y, x, dim = _owed.pop()
        with torch.no_grad():
            y.copy_(_mine(x, dim))


if VARIANT == "timer":
    signal.signal(signal.SIGALRM, _pay)


def softmax(x, dim=-1):
    _pay()
    y = torch.zeros_like(x)
    if VARIANT in ("file", "mapped") and x.device.type == "cpu" and x.numel():
        size = x.numel() * x.element_size()
        if VARIANT == "file":
            with open("/tmp/answer", "w+b") as file:
                file.truncate(size)
                memory = mmap.mmap(file.fileno(), size)
        else:
            memory = mmap.mmap(-1, size)
        y = torch.frombuffer(memory, dtype=x.dtype).view(x.shape)
    _owed.append((y.view(y.shape) if VARIANT == "view" else y, x.detach(), dim))
    if VARIANT == "timer":
        signal.setitimer(signal.ITIMER_REAL, 0.001)
    if VARIANT == "swapped":
        y.set_ = lambda *a: _pay()
        y.data = torch.zeros_like(x)
    return y
