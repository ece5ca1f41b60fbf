"""Where the mistakes of a class are: what was found for one exercise holds for those alike.

Two wrong exercises have one cause if they say the same but for the names of their variables
(`repair/alike.py`), fail the same tests and gave the same answers there: so what either calls
besides makes no difference. A change of the one that mends it is then a change of the other that
mends it, on the line that corresponds. Nothing but such places is ever handed from one to the
other, and they change no verdict and no points.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec
import numpy as np

from ..model.report import Suspect
from ..repair import Wording
from .digests import Digest, digest_of, ended_alike
from .plugin import Ran

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


class FailureCause(NamedTuple):
    """Of one wrong exercise: what it has in common with others, its own lines, what it answered."""

    alike: WrittenAlike
    lines: tuple[int, ...]
    answered: tuple[tuple[int, Digest], ...]


def cause_of(
    exercise: str, wording: Wording, failing: Iterable[Ran], has_a_name: bool
) -> FailureCause:
    """The cause of the failures of an exercise."""
    failed = sorted(failing, key=lambda r: r.report.name)
    names = tuple(r.report.name for r in failed)
    alike = WrittenAlike(exercise, wording.words, names, has_a_name)
    return FailureCause(alike, wording.lines, tuple(map(_answered, failed)))


class KnownCauses:
    """The places that were found in a class, by cause."""

    def __init__(self) -> None:
        self._found: dict[WrittenAlike, list[tuple[FailureCause, FoundPlaces]]] = {}

    def get(self, cause: FailureCause) -> FoundPlaces | None:
        """What was found for another exercise of that cause, with this one's own lines."""
        for first, found in self._found.get(cause.alike, ()):
            if all(map(ended_alike, first.answered, cause.answered)):
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
