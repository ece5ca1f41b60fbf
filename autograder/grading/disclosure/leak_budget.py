"""The leak budget of one message: fewer than 32 bits chosen by the submission.

Theory of operation. A submission knows hidden inputs when it chooses which exception it raises, at
which line, with which names and numbers. Each is a choice among values known to the trusted side,
so it reveals a known number of bits: the logarithm of the number of values. All choices of a
message are charged to one budget; details that exceed it are left out or shown as `?`. So a message
cannot contain a float32 of a hidden input. An honest message makes few choices and stays within the
budget.

A number is known if it is a size in the call's arguments (or a product of neighbouring sizes), an
index, or a literal in the student's source. The more literals a source has, the more bits each one
costs, so a long table of literals reveals no more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import lru_cache

MOST_BITS = 31.5
UNKNOWN = "?"
HINTS = 16  # number of sentences that can describe a difference
ROUGH = 1024  # number of values that `rough` can return
_INDICES = frozenset(range(-3, 4))
_INTEGER = re.compile(r"(?<![\w.])\d{1,5}(?![\w.])")

# Number of alternatives among which a message has chosen before its first word.
DRAWINGS = 32  # how a drawing differs
TEXTS = 16  # how texts or mappings differ
VALUES = 16 * 11  # which returned value is wrong, and a count in tenths


class MessageBudget:
    """The remaining bits of a message. `paid`: the number of alternatives already chosen from."""

    def __init__(self, paid: int = 1) -> None:
        self.left = MOST_BITS
        self.afford(paid)

    def afford(self, choices: int, flag: float = 0.0) -> bool:
        """Charge one choice among `choices` values; return False if it exceeds the budget.

        flag: bits that distinguish this kind of choice from other kinds
        """
        cost = flag + math.log2(max(choices, 1))
        if cost > self.left:
            return False
        self.left -= cost
        return True


def with_products(shapes: Iterable[tuple[int, ...]]) -> frozenset[int]:
    """Return the sizes in some shapes, and the products of neighbouring sizes."""
    found: set[int] = set()
    for shape in shapes:
        for first in range(len(shape)):
            found.update(math.prod(shape[first:last]) for last in range(first + 1, len(shape) + 1))
    return frozenset(found)


@lru_cache(maxsize=8)
def _literals(source: tuple[str, ...]) -> frozenset[int]:
    return frozenset(int(n) for line in source for n in _INTEGER.findall(line))


def number(text: str, budget: MessageBudget, sizes: frozenset[int], source: tuple[str, ...]) -> str:
    """Return a number in an error message, or `?` if it is unknown or exceeds the budget."""
    value, own = int(text), _literals(source)
    groups = ((sizes, 0.6), (_INDICES, 1.8), (own | {-n for n in own}, 4.3))
    paid = (budget.afford(len(known), flag) for known, flag in groups if value in known)
    return text if any(paid) else UNKNOWN


def shape(actual: tuple[int, ...], expected: tuple[int, ...], budget: MessageBudget) -> str:
    """Describe a wrong shape, with `?` for sizes that do not follow from the expected shape."""
    known = with_products([expected])
    known |= {n + d for n in expected for d in (-1, 1)} | {2 * n for n in expected} | {0, 1, 2, 3}
    if len(actual) > 6 or not budget.afford(7):
        return "a different number of axes"
    parts = []
    for axis, extent in enumerate(actual):
        right = axis < len(expected) and extent == expected[axis]
        choice = (1, 0.5) if right else (len(known), 1.8)
        affordable = (right or extent in known) and budget.afford(*choice)
        parts.append(str(extent) if affordable else UNKNOWN)
    return f"({', '.join(parts)}{',' * (len(parts) == 1)})"


def count_of(count: int, total: int, budget: MessageBudget) -> str:
    """Describe a count of entries, rounded to tenths if the exact count exceeds the budget."""
    if budget.afford(total):
        return f"{count} of {total} entries"
    tenths = min(max(round(10 * count / total), 1), 9)
    return f"about {tenths} in 10 of {total} entries"


def few(count: int, most: int = 9, budget: MessageBudget | None = None) -> str:
    """Return a count of at most `most`, or "more than {most}"."""
    if budget is not None and not budget.afford(most + 2):
        return "a different number"
    return str(count) if 0 <= count <= most else f"more than {most}"


def rough(value: float) -> str:
    """Return a sum to two significant digits, or "far less", "far more" or "no number"."""
    size = abs(value)
    if size == 0 or 0.01 <= size < 1000:
        return f"{value:.2g}" if size < 100 else str(round(value, -1)).removesuffix(".0")
    return "far less" if size < 1 else "far more" if size >= 1000 else "no number"
