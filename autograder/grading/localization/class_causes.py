"""Share the lines that were found for one submission with others of the class.

Two wrong exercises have the same cause if their code is equal up to the names of variables
(`repair/normal_form.py`), they fail the same tests, and they gave the same answers there. An edit
that fixes one will probably fix the other, on the corresponding line. It may not, because each also
calls other code, which can react differently to the edit. So the lines of one submission are reused
directly only if the whole modules are equal; otherwise they are tried first and must be confirmed.
Only places pass from one submission to another, and they never change verdicts or points.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec
import numpy as np

from ...model.report.schema import Suspect
from ...repair import NormalForm
from ..diagnosis.answer_digests import Digest, digest_of, same_endings
from ..running.pytest_plugin import Ran
from .tuning import ANSWERS_PER_CAUSE, CAUSES_REMEMBERED, NUMBERS_COMPARED

Places = tuple[Suspect, ...]  # line 0: only the kind of the mistake is known


class CauseKey(NamedTuple):
    """The common key of wrong exercises with the same cause, without their answers."""

    exercise: str
    words: tuple[str, ...]
    failing: tuple[str, ...]
    is_named: bool


def lines_of(places: Places) -> tuple[Suspect, ...]:
    """Return the places with a known line."""
    return tuple(p for p in places if p.line)


class FailureCause(NamedTuple):
    """The cause of one wrong exercise: its key, the student's lines, and the wrong answers.

    whole: the normal form of everything that was submitted
    """

    key: CauseKey
    lines: tuple[int, ...]
    answers: tuple[tuple[int, Digest], ...]
    whole: object = None


def cause_of(
    exercise: str,
    form: NormalForm,
    failing: Iterable[Ran],
    is_named: bool,
    whole: object = None,
) -> FailureCause:
    """Return the cause of the failures of an exercise."""
    failed = sorted(failing, key=lambda r: r.report.name)
    names = tuple(r.report.name for r in failed)
    key = CauseKey(exercise, form.words, names, is_named)
    return FailureCause(key, form.lines, tuple(map(last_answer, failed)), whole)


class KnownCauses:
    """The places that were found in a class, by cause."""

    def __init__(self) -> None:
        self._found: dict[CauseKey, list[tuple[FailureCause, Places]]] = {}

    def get(self, cause: FailureCause, whole: bool = True) -> Places | None:
        """Return the places that were found for the same cause, on the lines of this exercise.

        whole: whether the whole module must be equal; if not, only findings with lines are
            returned, and the caller must confirm them
        """
        for first, found in self._found.get(cause.key, ()):
            matches = first.whole == cause.whole if whole else bool(lines_of(found))
            if matches and all(map(same_endings, first.answers, cause.answers)):
                lines = {0: 0, **dict(zip(first.lines, cause.lines, strict=True))}
                return tuple(msgspec.structs.replace(p, line=lines[p.line]) for p in found)
        return None

    def put(self, cause: FailureCause, found: Places) -> None:
        """Remember the places of a cause, unless one of them has no corresponding line."""
        corresponds = all(p.line in cause.lines for p in lines_of(found))
        if not (corresponds and cause.key.words and len(self._found) < CAUSES_REMEMBERED):
            return
        known = self._found.setdefault(cause.key, [])
        if len(known) < ANSWERS_PER_CAUSE:
            known.append((cause, found))


def last_answer(failed: Ran) -> tuple[int, Digest]:
    """Return the number of answers until the failure, and a digest of the last one."""
    if not failed.answers:
        return 0, ((), np.empty(0))
    form, numbers = digest_of(failed.answers[-1])
    return len(failed.answers), (form, numbers[:NUMBERS_COMPARED].copy())
