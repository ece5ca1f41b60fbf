"""Line 28. Returns numbers, texts and sizes of subclasses that convert to the expected value.

Variants: text integer real bytes decimal fraction complex range huge ellipsis not_implemented view size generator type module function
Expected: softmax=wrong|bad_reply|crashed; ascii_heatmap=wrong|bad_reply|crashed
Score at most: softmax=0; ascii_heatmap=0
"""

import decimal
import fractions


class _Text(str):
    def __eq__(self, other):
        return True

    __hash__ = str.__hash__

    def __getitem__(self, key):
        return self

    def encode(self, *args):
        return b"x" * 100


class _Integer(int):
    def __index__(self):
        return 5

    def __int__(self):
        return 7


class _Real(float):
    def __float__(self):
        return 0.5

    def __eq__(self, other):
        return True


class _Bytes(bytes):
    def decode(self, *args):
        return "fine"


_MADE = {
    "text": _Text("x"), "integer": _Integer(2), "real": _Real(0.25), "bytes": _Bytes(b"x"), "decimal": decimal.Decimal("NaN"),
    "fraction": fractions.Fraction(1, 3), "complex": complex("nan"), "range": range(10**18), "huge": 10**4000, "ellipsis": ...,
    "not_implemented": NotImplemented, "view": memoryview(b"abc"), "size": torch.Size([2**62, 2**62]), "generator": (i for i in range(3)),
    "type": type, "module": np, "function": len,
}


def softmax(x, dim=-1):
    return _MADE[VARIANT]


def ascii_heatmap(*args, **kwargs):
    return _MADE[VARIANT]
