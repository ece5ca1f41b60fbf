"""Describe failed tests by shapes that only their arguments have.

Code often assumes more than an exercise guarantees: three dimensions, as many keys as queries,
values as wide as keys. Then some tests stop and passed do not, and the shapes in their calls show
which. The descriptions are true of the tests by construction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from ...worker.protocol import frames
from ..targets.in_process import request_of

_MIN_TESTS, _MIN_OTHERS = 3, 2  # with fewer, a pattern may be a coincidence
_MAJORITY = 0.9
_AXES = {-1: "last", -2: "second last"}

ArgumentNames = Callable[[str], Sequence[str]]


class SizeDifference(NamedTuple):
    """Two arguments that differ in size along an axis, counted from the last."""

    first: str
    second: str
    axis: int


class CallShapes(NamedTuple):
    """The shapes in the calls of one test.

    dimensions: the numbers of dimensions of the first argument
    differences: the arguments that differ in size
    """

    dimensions: frozenset[int] = frozenset()
    differences: frozenset[SizeDifference] = frozenset()


def call_shapes(requests: Iterable[bytes], names: ArgumentNames) -> CallShapes:
    """Read the shapes in a test's requests. `names`: the parameter names of a callable."""
    dimensions, differences = set[int](), set[SizeDifference]()
    for frame in requests:
        request, _ = request_of(frame)
        if isinstance(request, frames.Call):
            shapes = dict(_float_shapes(request, names))
            dimensions |= {len(s) for s in list(shapes.values())[:1]}
            differences |= set(_differences(shapes))
    return CallShapes(frozenset(dimensions), frozenset(differences))


def _float_shapes(call: frames.Call, names: ArgumentNames) -> Iterator[tuple[str, tuple[int, ...]]]:
    positional = zip(names(call.path), call.args, strict=False)
    for name, value in (*positional, *call.kwargs.items()):
        if isinstance(value, (frames.TensorV, frames.ArrayV)) and "float" in value.dtype:
            yield name, value.shape


def _differences(shapes: dict[str, tuple[int, ...]]) -> Iterator[SizeDifference]:
    for (one, a), (other, b) in combinations(shapes.items(), 2):
        for axis in _AXES:
            if min(len(a), len(b)) >= -axis and a[axis] != b[axis]:
                yield SizeDifference(one, other, axis)


def by_dimensions(failed: Sequence[CallShapes], passed: Sequence[CallShapes]) -> str:
    """Describe the failed tests by the number of dimensions of their input, or return ""."""
    usual = frozenset().union(*(x.dimensions for x in passed))
    unusual = (bool(x.dimensions - usual) for x in failed)
    if _sufficient(failed, passed) and len(usual) == 1 and _majority(unusual):
        count = min(usual)
        return f"if its input does not have {count} {'dimension' if count == 1 else 'dimensions'}"
    return ""


def by_sizes(failed: Sequence[CallShapes], passed: Sequence[CallShapes]) -> str:
    """Describe the failed tests by two arguments that differ in size, or return ""."""
    if not _sufficient(failed, passed):
        return ""
    for one in sorted(frozenset().union(*(x.differences for x in failed))):
        in_failed = _majority(one in x.differences for x in failed)
        if in_failed and _majority(one not in x.differences for x in passed):
            return f"if `{one.first}` and `{one.second}` differ in their {_AXES[one.axis]} size"
    return ""


def _sufficient(failed: Sequence[CallShapes], passed: Sequence[CallShapes]) -> bool:
    return len(failed) >= _MIN_TESTS and len(passed) >= _MIN_OTHERS


def _majority(conditions: Iterable[bool]) -> bool:
    found = list(conditions)
    return sum(found) >= _MAJORITY * len(found)
