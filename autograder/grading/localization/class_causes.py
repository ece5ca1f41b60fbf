"""Where the mistakes of a class are: where to look first in exercises that are alike.

Two wrong exercises have one cause if they say the same but for the names of their variables
(`repair/same_program.py`), fail the same tests and gave the same answers there. A change that fixes
one is then likely to fix the other, on the line that corresponds. It need not: each also calls code
of its own, which can answer differently once a change is made. So what was found for one submission
holds for others whose whole modules are alike. In the rest its lines are tried first, and shown if
they are confirmed there. Nothing but places is handed from one submission to another, and they
change no verdict and no points.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec
import numpy as np

from ...model.report.schema import Suspect
from ...repair import Wording
from ..diagnosis.answer_digests import Digest, digest_of, ended_alike
from ..running.pytest_plugin import Ran

_MOST = 1000  # causes, and of each the ways to answer
_MOST_WAYS = 8
_NUMBERS = 64  # of an answer that are compared


class WrittenAlike(NamedTuple):
    """What a wrong exercise has in common with others of a class: its words and what they fail."""

    exercise: str
    words: tuple[str, ...]
    failing: tuple[str, ...]
    has_a_name: bool


class FoundPlaces(NamedTuple):
    """Where a mistake is, line 0 if only its kind is known; `beside`: the names of misconceptions
    that are there as well."""

    places: tuple[Suspect, ...] = ()
    beside: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[Suspect, ...]:
        """The places of which the line is known."""
        return tuple(p for p in self.places if p.line)

    def agrees(self, other: FoundPlaces | None) -> bool:
        """Return True if both have the same lines, and the same mistakes beside them."""
        if other is None or self.beside != other.beside:
            return False
        return {p.line for p in self.lines} == {p.line for p in other.lines}


class FailureCause(NamedTuple):
    """Of one wrong exercise: what it has in common with others, its own lines, what it answered.

    whole: what everything that was submitted says
    """

    alike: WrittenAlike
    lines: tuple[int, ...]
    answered: tuple[tuple[int, Digest], ...]
    whole: object = None


def cause_of(
    exercise: str,
    wording: Wording,
    failing: Iterable[Ran],
    has_a_name: bool,
    whole: object = None,
) -> FailureCause:
    """The cause of the failures of an exercise."""
    failed = sorted(failing, key=lambda r: r.report.name)
    names = tuple(r.report.name for r in failed)
    alike = WrittenAlike(exercise, wording.words, names, has_a_name)
    return FailureCause(alike, wording.lines, tuple(map(_answered, failed)), whole)


class KnownCauses:
    """The places that were found in a class, by cause."""

    def __init__(self) -> None:
        self._found: dict[WrittenAlike, list[tuple[FailureCause, FoundPlaces]]] = {}

    def get(self, cause: FailureCause, whole: bool = True) -> FoundPlaces | None:
        """Return what was found for an exercise of that cause, with this one's own lines.

        whole: whether the rest of its module has to be alike as well; if not, only findings with
        lines are returned, which are to be confirmed
        """
        for first, found in self._found.get(cause.alike, ()):
            known = first.whole == cause.whole if whole else bool(found.lines)
            if known and all(map(ended_alike, first.answered, cause.answered)):
                own = {0: 0, **dict(zip(first.lines, cause.lines, strict=True))}
                places = (msgspec.structs.replace(p, line=own[p.line]) for p in found.places)
                return FoundPlaces(tuple(places), found.beside)
        return None

    def put(self, cause: FailureCause, found: FoundPlaces) -> None:
        """Keep what was found, unless nothing is known of the exercise or of a line of it."""
        told = all(p.line in cause.lines for p in found.lines)
        if not (told and cause.alike.words and len(self._found) < _MOST):
            return
        of_cause = self._found.setdefault(cause.alike, [])
        if len(of_cause) < _MOST_WAYS:
            of_cause.append((cause, found))


def _answered(failed: Ran) -> tuple[int, Digest]:
    """How many answers led to a failure, and the beginning of the last one."""
    if not failed.answers:
        return 0, ((), np.empty(0))
    form, numbers = digest_of(failed.answers[-1])
    return len(failed.answers), (form, numbers[:_NUMBERS].copy())
