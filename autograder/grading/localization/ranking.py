"""Rank edits by the symptoms of the wrong answers.

The ranking only decides the order of the search. If only gradients are wrong, edits of the code
that computes gradients come first; edits that cannot explain an answer come last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum, auto
from typing import Any

import torch

from ...model.device_axes import AXES
from ...model.report.schema import in_low_precision
from ...model.report.verdicts import Verdict
from ...repair import Edit
from ...worker.protocol import frames
from ..comparator import SCALARS, as_tensor, close, is_array, leaves
from ..decoding import read_answer
from ..diagnosis.probes import Probe
from ..running.pytest_plugin import Ran
from .traces import NO_HINTS, ValueHints
from .tuning import (
    AGREED_BONUS,
    DEVIATING_BONUS,
    LIKELY_BONUS,
    NAMED_BONUS,
    RIGHT_PENALTY,
    UNLIKELY_PENALTY,
)

# Mistakes of these kinds do not show in values.
_NO_VALUE = frozenset(
    {"device", "gradient", "in place", "memory", "shared", "refusal", "given back", "option"}
    | {"order of lines", "count"}
)


class Symptom(Enum):
    """A way in which an answer is wrong."""

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


# The symptoms that edits of a kind can fix; any other kind may fix every computed value.
_FIXES: dict[str, frozenset[Symptom]] = {
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
    """Common symptoms of the failed tests of an exercise."""

    def __init__(
        self, failing: Iterable[Ran], probes: Mapping[str, Probe], hints: ValueHints = NO_HINTS
    ) -> None:
        self._hints, self._failing = hints, list(failing)
        self._seen = [_symptoms(r, probes.get(r.report.name)) for r in self._failing]
        self._all = frozenset().union(*self._seen)
        names = [r.report.name for r in self._failing]
        self._in_halves = all(map(in_low_precision, names))
        self._on_claimed_devices = all(any(AXES[d].claimed and d in n for d in AXES) for n in names)
        self._lines = {r.report.line for r in self._failing if r.report.line}

    def weight(self, edit: Edit) -> float:
        """Return the weight of an edit; the search tries lighter edits first."""
        more = LIKELY_BONUS if edit.line in self._lines else 0.0
        more += self._weight_by_values(edit)
        fixes = _FIXES.get(edit.kind, _COMPUTED)
        if Symptom.UNKNOWN not in self._all:
            if self._all == {Symptom.TOUCHED} and edit.kind == "missing step":
                more += LIKELY_BONUS  # the argument was modified
            elif not self._all & fixes:
                more += UNLIKELY_PENALTY
            elif fixes is not _COMPUTED and all(s & fixes for s in self._seen):
                more += LIKELY_BONUS
        if self._in_halves and edit.kind in ("kind of number", "overflow", "constant"):
            more += LIKELY_BONUS
        if self._on_claimed_devices and edit.kind == "device":
            more += 2 * LIKELY_BONUS
        if edit.function.endswith(".backward"):
            only = self._all <= {Symptom.GRADIENTS, Symptom.STOPPED}
            more += LIKELY_BONUS if only else UNLIKELY_PENALTY
        return edit.weight + more

    def _weight_by_values(self, edit: Edit) -> float:
        """Prefer lines where values deviate from the right ones; avoid lines with right values."""
        hints, lines = self._hints, edit.places
        if lines & {place for _, place in hints.named}:
            return NAMED_BONUS
        if lines & hints.agreed:  # unless a named mistake shows elsewhere
            return DEVIATING_BONUS if hints.named else AGREED_BONUS
        if lines & hints.odd:
            return DEVIATING_BONUS
        return RIGHT_PENALTY if lines <= hints.right and edit.kind not in _NO_VALUE else 0.0


def _symptoms(failed: Ran, probe: Probe | None) -> frozenset[Symptom]:
    index = len(failed.answers) - 1
    last = failed.answers[index] if failed.answers else None
    if failed.report.verdict is Verdict.CRASHED:
        return frozenset({Symptom.STOPPED})
    if not isinstance(last, tuple) or probe is None or index >= len(probe.steps):
        return frozenset({Symptom.UNKNOWN})
    mine, right = last[0], probe.steps[index][1][0]
    if right.status == "raised" or mine.status == "raised":
        accepted = right.status == "raised" and mine.status != "raised"
        return frozenset({Symptom.ACCEPTED if accepted else Symptom.STOPPED})
    found = set()
    if mine.side_effects != right.side_effects:
        found.add(Symptom.TOUCHED)
    if mine.detached and not right.detached:
        found.add(Symptom.DETACHED)
    try:
        answers, expected = read_answer(last), read_answer(probe.steps[index][1])
    except frames.BadFrame:
        return frozenset({Symptom.UNKNOWN})
    found |= _differences(answers[0], expected[0])
    if _differences(answers[1], expected[1]):
        found.add(Symptom.GRADIENTS)
    return frozenset(found or {Symptom.UNKNOWN})


def _differences(a: Any, b: Any) -> frozenset[Symptom]:
    """Compare a decoded value with the right one."""
    return frozenset().union(*(_leaf_differences(x, y) for x, y, _ in leaves(a, b)))


def _leaf_differences(a: Any, b: Any) -> set[Symptom]:
    if type(a) is not type(b) or isinstance(b, (tuple, list, dict)):
        return {Symptom.KIND}
    if not is_array(b):
        plain = isinstance(b, (bool, int, float, str))
        return {Symptom.VALUES} if plain and a != b else set()
    if a.dtype != b.dtype:
        return {Symptom.KIND}
    if tuple(a.shape) != tuple(b.shape):
        return {Symptom.SHAPE}
    mine, right = as_tensor(a), as_tensor(b)
    if mine.is_meta or right.is_meta:
        return set()
    if not torch.equal(torch.isfinite(mine), torch.isfinite(right)):
        return {Symptom.INFINITE}
    return set() if close(mine, right, SCALARS) else {Symptom.VALUES}
