"""Line 24. Returns text subclasses, unbounded texts, or invisible characters instead of a text.

Variants: subclass surrogate null marks combining user_string bytes lines interned_lies template escapes spreadsheet huge_width path lazy
Expected: ascii_heatmap=crashed|wrong|pass|limit|bad_reply
Score at most: ascii_heatmap=1
"""

import collections
import pathlib

_honest = ascii_heatmap


class _Text(str):
    def __eq__(self, other):
        return True

    __hash__ = str.__hash__

    def split(self, *_):
        return []

    def encode(self, *_):
        return b""


class _Lazy:
    def __str__(self):
        return "x"

    __repr__ = __str__

    def __eq__(self, other):
        return True


def ascii_heatmap(*args, **kwargs):
    text = _honest(*args, **kwargs)
    return {
        "subclass": lambda: _Text("anything"),
        "surrogate": lambda: text + "\ud800",
        "null": lambda: text.replace(" ", "\x00"),
        "marks": lambda: "\u202e" + text,
        "combining": lambda: text + "\u0301" * 100000,
        "user_string": lambda: collections.UserString(text),
        "bytes": lambda: text.encode(),
        "lines": lambda: text.replace("\n", "\u2028"),
        "interned_lies": lambda: _Text(text),
        "template": lambda: text + "{{7*7}}{% raw %}${jndi}",
        "escapes": lambda: "\x1b]0;owned\x07" + text,
        "spreadsheet": lambda: "=HYPERLINK(1)\n" + text,
        "huge_width": lambda: text + " " * 1_000_000,
        "path": lambda: pathlib.PurePath(text),
        "lazy": _Lazy,
    }[VARIANT]()
