"""Line 35. Returns a text whose encoding writes the result after the watched call.

Expected: softmax=forbidden|crashed|wrong|bad_reply
Score at most: softmax=0
"""

import sys

_numpy = torch.Tensor.numpy
_last = []


class _Text(str):
    def __len__(self):
        return 5

    def encode(self, *args):
        if _last:
            x, dim, view = _last.pop()
            view[:] = _numpy(torch.softmax(x, dim).contiguous()).tobytes()
        return b"hello"


class _View:
    def __init__(self, view):
        self.view = view

    def tobytes(self):
        return self.view


def _read(self, *args, **kwargs):
    if not _last:
        return _numpy(self, *args, **kwargs)
    return _View(_last[-1][2])


torch.Tensor.numpy = _read


def softmax(x, dim=-1):
    if x.device.type != "cpu" or x.requires_grad:
        return torch.zeros_like(x)
    _last[:] = [(x.clone(), dim, bytearray(x.numel() * x.element_size()))]
    sys.stdout.text = _Text("hello")
    return torch.zeros_like(x)
