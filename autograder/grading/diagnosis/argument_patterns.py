"""What the arguments of failed tests have in common that those of the others have not.

Real code often counts on more than an exercise promises: on three axes, on as many keys as queries,
on values as wide as keys. Then some tests stop and others do not, and the shapes of what they ask
tell which. What is said is true of the tests by construction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from ...worker.protocol import frames as wire
from ..targets.in_process import request_of

_LEAST, _LEAST_BESIDE = 3, 2
_MOSTLY = 0.9
_ENDS = {-1: "last", -2: "second last"}

Labels = Callable[[str], Sequence[str]]


class Apart(NamedTuple):
    """Two arguments that differ in size along an axis, counted from the end."""

    first: str
    second: str
    axis: int


class Asked(NamedTuple):
    """axes: how many the first argument has, in each call. apart: where sizes differ."""

    axes: frozenset[int] = frozenset()
    apart: frozenset[Apart] = frozenset()


def asked(frames: Iterable[bytes], labels: Labels) -> Asked:
    """What one test asks. labels: what the arguments of a path are called."""
    axes, apart = set[int](), set[Apart]()
    for frame in frames:
        request, _ = request_of(frame)
        if isinstance(request, wire.Call):
            shapes = dict(_shapes(request, labels))
            axes |= {len(s) for s in list(shapes.values())[:1]}
            apart |= set(_apart(shapes))
    return Asked(frozenset(axes), frozenset(apart))


def _shapes(call: wire.Call, labels: Labels) -> Iterator[tuple[str, tuple[int, ...]]]:
    positional = zip(labels(call.path), call.args, strict=False)
    for name, value in (*positional, *call.kwargs.items()):
        if isinstance(value, (wire.TensorV, wire.ArrayV)) and "float" in value.dtype:
            yield name, value.shape


def _apart(shapes: dict[str, tuple[int, ...]]) -> Iterator[Apart]:
    for (one, a), (other, b) in combinations(shapes.items(), 2):
        for axis in _ENDS:
            if min(len(a), len(b)) >= -axis and a[axis] != b[axis]:
                yield Apart(one, other, axis)


def by_axes(these: Sequence[Asked], others: Sequence[Asked]) -> str:
    """Where these tests end and the others do not, if it is the number of axes that tells."""
    usual = frozenset().union(*(x.axes for x in others))
    if _enough(these, others) and len(usual) == 1 and _most(bool(x.axes - usual) for x in these):
        return f"wherever its input has not exactly {_count(min(usual))}"
    return ""


def by_sizes(these: Sequence[Asked], others: Sequence[Asked]) -> str:
    """The same, if it is that two arguments differ in a size."""
    if not _enough(these, others):
        return ""
    for one in sorted(frozenset().union(*(x.apart for x in these))):
        if _most(one in x.apart for x in these) and _most(one not in x.apart for x in others):
            return (
                f"wherever `{one.first}` and `{one.second}` differ in their {_ENDS[one.axis]} size"
            )
    return ""


def _enough(these: Sequence[Asked], others: Sequence[Asked]) -> bool:
    """Whether they are so many that what sets them apart is no chance."""
    return len(these) >= _LEAST and len(others) >= _LEAST_BESIDE


def _most(told: Iterable[bool]) -> bool:
    every = list(told)
    return sum(every) >= _MOSTLY * len(every)


def _count(axes: int) -> str:
    return f"{axes} {'axis' if axes == 1 else 'axes'}"
