"""What a wrong answer tells of its mistake: which kinds of changes can mend it, and where.

Nothing is decided here. A search that knows that only gradients are wrong looks at what makes them
first; what it cannot use, it tries last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum, auto
from typing import Any

import torch

from ...model.device_axes import AXES
from ...model.report.schema import in_low_precision
from ...model.report.verdicts import Verdict
from ...repair import Change
from ...worker.protocol import frames
from ..diagnosis.probes import Probe, read
from ..running.pytest_plugin import Ran
from .traces import NO_HINTS, ValueHints

_UNLIKELY = 1.5  # added to the weight of a change that cannot mend what is seen
_LIKELY = -0.7
# What changes of these kinds mend, no value tells.
_NO_VALUE = frozenset(
    {"device", "gradient", "in place", "memory", "shared", "refusal", "given back", "option"}
    | {"order of lines", "count"}
)
_AGREED, _NAMED, _ODD, _FINE = -2.6, -1.6, -1.2, 0.8  # lines that values speak of


class Symptom(Enum):
    """What is wrong with an answer."""

    VALUES = auto()
    GRADIENTS = auto()
    KIND = auto()
    SHAPE = auto()
    INFINITE = auto()
    TOUCHED = auto()
    DETACHED = auto()
    STOPPED = auto()
    ACCEPTED = auto()
    UNKNOWN = auto()


# What changes of a kind can mend; any other kind may mend whatever is computed.
_MENDS: dict[str, frozenset[Symptom]] = {
    "kind of number": frozenset({Symptom.KIND, Symptom.STOPPED, Symptom.INFINITE}),
    "device": frozenset({Symptom.STOPPED, Symptom.KIND}),
    "refusal": frozenset({Symptom.ACCEPTED, Symptom.STOPPED}),
    "gradient": frozenset({Symptom.GRADIENTS, Symptom.DETACHED, Symptom.STOPPED}),
    "in place": frozenset({Symptom.TOUCHED, Symptom.STOPPED}),
    "count": frozenset({Symptom.STOPPED}),
    "memory": frozenset({Symptom.STOPPED}),
    "shared": frozenset({Symptom.TOUCHED, Symptom.VALUES, Symptom.UNKNOWN}),
    "overflow": frozenset({Symptom.INFINITE}),
    "infinity": frozenset({Symptom.INFINITE}),
    "empty rows": frozenset({Symptom.INFINITE, Symptom.VALUES}),
    "text": frozenset({Symptom.VALUES, Symptom.KIND, Symptom.STOPPED}),
}
_COMPUTED = frozenset(
    {Symptom.VALUES, Symptom.GRADIENTS, Symptom.SHAPE, Symptom.INFINITE, Symptom.STOPPED}
)


class Clues:
    """What the failed tests of an exercise have in common."""

    def __init__(
        self, failing: Iterable[Ran], probes: Mapping[str, Probe], hints: ValueHints = NO_HINTS
    ) -> None:
        self._hints = hints
        runs = list(failing)
        self._seen = [_symptoms(r, probes.get(r.report.name)) for r in runs]
        self._every = frozenset().union(*self._seen)
        names = [r.report.name for r in runs]
        self._in_halves = all(map(in_low_precision, names))
        self._elsewhere = all(any(AXES[d].claimed and d in n for d in AXES) for n in names)
        self._lines = {r.report.line for r in runs if r.report.line}

    def weight(self, change: Change) -> float:
        """The weight of a change, the lower, the sooner it should be tried."""
        more = _LIKELY - 0.3 if change.line in self._lines else 0.0
        more += self._by_values(change)
        mends = _MENDS.get(change.kind, _COMPUTED)
        if Symptom.UNKNOWN not in self._every:
            if self._every == {Symptom.TOUCHED} and change.kind == "missing step":
                more += _LIKELY  # what it was given is not left as it was
            elif not self._every & mends:
                more += _UNLIKELY
            elif mends is not _COMPUTED and all(s & mends for s in self._seen):
                more += _LIKELY
        if self._in_halves and change.kind in ("kind of number", "overflow", "constant"):
            more += _LIKELY
        if self._elsewhere and change.kind == "device":
            more += 2 * _LIKELY
        if change.function.endswith(".backward"):
            only = self._every <= {Symptom.GRADIENTS, Symptom.STOPPED}
            more += 1.5 * _LIKELY if only else _UNLIKELY
        return change.weight + more

    def _by_values(self, change: Change) -> float:
        """What values say of a line: they leave the right ones there, or are right."""
        hints = self._hints
        lines = change.places
        if lines & {place for _, place in hints.named}:
            return _NAMED
        if lines & hints.agreed:  # unless a mistake that has a name is seen elsewhere
            return _ODD if hints.named else _AGREED
        if lines & hints.odd:
            return _ODD
        unseen = change.kind in _NO_VALUE
        return _FINE if lines <= hints.right and not unseen else 0.0


def _symptoms(failed: Ran, probe: Probe | None) -> frozenset[Symptom]:
    index = len(failed.answers) - 1
    last = failed.answers[index] if failed.answers else None
    if failed.report.verdict is Verdict.CRASHED:
        return frozenset({Symptom.STOPPED})
    if not isinstance(last, tuple) or probe is None or index >= len(probe.steps):
        return frozenset({Symptom.UNKNOWN})
    mine, right = last[0], probe.steps[index][1][0]
    if right.status == "raised" or mine.status == "raised":
        wanted = right.status == "raised" and mine.status != "raised"
        return frozenset({Symptom.ACCEPTED if wanted else Symptom.STOPPED})
    found = set()
    if mine.side_effects != right.side_effects:
        found.add(Symptom.TOUCHED)
    if mine.detached and not right.detached:
        found.add(Symptom.DETACHED)
    try:
        answers, expected = read(last), read(probe.steps[index][1])
    except frames.BadFrame:
        return frozenset({Symptom.UNKNOWN})
    found |= _unlike(answers[0], expected[0])
    if _unlike(answers[1], expected[1]):
        found.add(Symptom.GRADIENTS)
    return frozenset(found or {Symptom.UNKNOWN})


def _unlike(a: Any, b: Any) -> set[Symptom]:
    """How two decoded values differ."""
    if isinstance(b, (tuple, list)):
        if not isinstance(a, (tuple, list)) or len(a) != len(b):
            return {Symptom.KIND}
        return set().union(*(_unlike(x, y) for x, y in zip(a, b, strict=True)))
    if hasattr(b, "dtype") and hasattr(b, "shape"):
        if type(a) is not type(b) or a.dtype != b.dtype:
            return {Symptom.KIND}
        if tuple(a.shape) != tuple(b.shape):
            return {Symptom.SHAPE}
        return _entries_unlike(torch.as_tensor(a), torch.as_tensor(b))
    if type(a) is not type(b):
        return {Symptom.KIND}
    plain = isinstance(b, (bool, int, float, str))
    return {Symptom.VALUES} if plain and a != b else set()


def _entries_unlike(a: torch.Tensor, b: torch.Tensor) -> set[Symptom]:
    if a.is_meta or b.is_meta:
        return set()
    if not torch.equal(torch.isfinite(a), torch.isfinite(b)):
        return {Symptom.INFINITE}
    close = torch.allclose(a.double(), b.double(), rtol=1e-4, atol=1e-6, equal_nan=True)
    return set() if close else {Symptom.VALUES}


__all__ = ["Clues", "Symptom"]
