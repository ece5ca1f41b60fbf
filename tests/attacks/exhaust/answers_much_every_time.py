"""Line 47. Returns the largest allowed reply every time, to exhaust the memory of the grader.

Variants: plain alias raises nothing_but_header by_hand gradients views
Expected: softmax=wrong|bad_reply|limit|crashed|timeout|forbidden
Score at most: softmax=0
"""

import os
import struct

_big = torch.zeros((7 << 20) // 4)


def _stamp():
    try:
        raise ValueError
    except ValueError as error:
        frame = getattr(error.__traceback__, "tb_" + "frame")
    while "stamp" not in getattr(frame, "f_" + "locals"):
        frame = getattr(frame, "f_" + "back")
    return getattr(frame, "f_" + "locals")["stamp"]


def _send(header, body=b""):
    data = _stamp() + b"AGK1" + struct.pack("<IQ", len(header), len(body)) + header + body
    while data:
        data = data[os.write(3, data) :]


class _Large(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return g


_grad = torch.autograd.grad
if VARIANT == "gradients":
    torch.autograd.grad = lambda *a, **k: tuple(_big for _ in _grad(*a, **k))


def softmax(x, dim=-1):
    if VARIANT == "alias":
        return [_big] * 9000
    if VARIANT == "raises":
        raise ValueError("x" * 10**6)
    if VARIANT == "views":
        return torch.zeros(1, dtype=torch.uint8).expand(1 << 26)
    if VARIANT == "gradients":
        return _Large.apply(x)
    if VARIANT == "nothing_but_header":
        return [{} for _ in range(9000)]
    if VARIANT == "by_hand":
        head = b"\x84\xacmessage_type\xa5reply\xa6status\xa2ok\xa7buffers\x90\xa5value"
        _send(head + b"\x93\xa1s\xa4list\xdd" + struct.pack(">I", 40_000) + b"\x94\xa1h\x00\xa0\x80" * 40_000)
    return _big
