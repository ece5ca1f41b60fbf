"""Line 23. Writes into the interpreter's and torch's own memory, through a ctypes that is loaded already.

Variants: small_integer flags dtype code refcount null
Expected: softmax=forbidden|crashed|wrong|bad_reply|timeout
Score at most: softmax=0
"""

import sys

_c = sys.modules["cty" + "pes"]


def softmax(x, dim=-1):
    if VARIANT == "small_integer":
        _c.memset(id(7) + 24, 8, 1)
    if VARIANT == "flags":
        _c.memset(id(torch.backends) + 16, 0, 0)
        _c.cast(id(True) + 24, _c.POINTER(_c.c_uint8))[0] = 0
    if VARIANT == "dtype":
        _c.memmove(id(torch.float32) + 16, id(torch.float64) + 16, 8)
    if VARIANT == "code":
        target = torch.nn.functional.relu.__code__
        _c.memmove(id(target), id(softmax.__code__), 64)
    if VARIANT == "refcount":
        _c.memset(id(None), 0, 1)
    if VARIANT == "null":
        _c.memset(0, 0, 8)
    return torch.softmax(x, dim)
