"""How much of a message a submission may choose: fewer than 32 bits, counted.

Theory of operation. A submission has seen hidden inputs when its words are chosen: which exception,
at which line, with which names and numbers. Each is a choice among what the trusted side knows
already, so each has a length in bits, as in a code: the logarithm of how many there were to choose
from. A message has a ration of bits; what would go beyond it is left out or shown as `?`. So a
message cannot carry a float32 of a hidden input, whatever words it is dressed in. Honest messages
name few things out of few, and keep within it.

A number is known if it is a size in the call's arguments (or a product of neighbouring sizes), an
index, or a literal of the student's own source. A source that lists many literals makes each of
them a longer choice, and so gains nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import lru_cache

MOST_BITS = 31.5
UNKNOWN = "?"
_INDICES = frozenset(range(-3, 4))
_INTEGER = re.compile(r"(?<![\w.])\d{1,5}(?![\w.])")
HINTS = 16  # sentences to choose from, of what a difference looks like
ROUGH = 1024  # sums that `rough` tells apart
_KINDS = 16  # of messages, and of the values returned together that one can be about
_DRAWN = 32  # ways in which a drawing differs
_TENTHS = 11
_COUNTS = 999  # of entries: small tests have no more


class Ration:
    """The bits that a message has left."""

    def __init__(self, bits: float = MOST_BITS) -> None:
        self.left = bits

    def among(self, count: int, flag: float = 0.0) -> bool:
        """Take the choice of one among `count`, told from other kinds of choices by `flag` bits."""
        cost = flag + math.log2(max(count, 1))
        if cost > self.left:
            return False
        self.left -= cost
        return True


@lru_cache(maxsize=8)
def literals(source: tuple[str, ...]) -> frozenset[int]:
    return frozenset(int(n) for line in source for n in _INTEGER.findall(line))


def with_products(shapes: Iterable[tuple[int, ...]]) -> frozenset[int]:
    """The sizes of some shapes, and of what becomes of them when neighbouring axes are merged."""
    found: set[int] = set()
    for shape in shapes:
        for first in range(len(shape)):
            product = 1
            for extent in shape[first:]:
                product *= extent
                found.add(product)
    return frozenset(found)


def number(text: str, ration: Ration, sizes: frozenset[int], source: tuple[str, ...]) -> str:
    """A number as a message may show it."""
    value, own = int(text), literals(source)
    groups = ((sizes, 0.6), (_INDICES, 1.8), (own | {-n for n in own}, 4.3))
    fits = (len(g) for g, flag in groups if value in g and ration.among(len(g), flag))
    return text if any(fits) else UNKNOWN


def shape(actual: tuple[int, ...], expected: tuple[int, ...], ration: Ration) -> str:
    """A shape beside the one that was asked for, with the sizes that can be made of that one."""
    known = with_products([expected])
    known |= {n + d for n in expected for d in (-1, 1)} | {2 * n for n in expected} | {0, 1, 2, 3}
    if len(actual) > 6 or not ration.among(7):
        return "another number of axes"
    parts = []
    for axis, extent in enumerate(actual):
        right = axis < len(expected) and extent == expected[axis]
        choice = (1, 0.5) if right else (len(known), 1.8)
        shown = (right or extent in known) and ration.among(*choice)
        parts.append(str(extent) if shown else UNKNOWN)
    return f"({', '.join(parts)}{',' * (len(parts) == 1)})"


def of_values() -> Ration:
    """What a message about values has left, which one it is and a coarse count being paid for."""
    ration = Ration()
    ration.among(_KINDS * _TENTHS)
    return ration


def of_drawings(panels: int = 1) -> Ration:
    """What a message about a drawing has left, its kind and the panel being paid for."""
    ration = Ration()
    ration.among(_DRAWN * panels)
    return ration


def of_texts() -> Ration:
    """What a message about a text or a mapping has left, its kind being paid for."""
    ration = Ration()
    ration.among(_KINDS)
    return ration


def count_of(count: int, total: int, ration: Ration) -> str:
    """A count among so many entries: whole if the ration lasts, else in tenths (paid for)."""
    if ration.among(total):
        return f"{count} of {total} entries"
    tenths = min(max(round(10 * count / total), 1), 9)
    return f"about {tenths} in 10 of {total} entries"


def few(count: int, most: int = 9, ration: Ration | None = None) -> str:
    """A count that a message may show, or that it is larger."""
    if ration is not None and not ration.among(most + 2):
        return "another number"
    return str(count) if 0 <= count <= most else f"more than {most}"


def amount(count: int) -> str:
    """A count of entries."""
    return few(count, _COUNTS)


def rough(value: float) -> str:
    """A sum that a message may show: two digits of it, where it is of a usual size."""
    size = abs(value)
    if size == 0 or 0.01 <= size < 1000:
        return f"{value:.2g}" if size < 100 else str(round(value, -1)).removesuffix(".0")
    return "far less" if size < 1 else "far more" if size >= 1000 else "no number"
