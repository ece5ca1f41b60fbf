"""A name for a mistake that the bank does not know, from the change that mends it.

Where one small change of a student's code makes every failed test pass, its kind says what the
mistake is: an axis, a scale, a mask read the other way round. Where two changes do, there are two
such names; where a change leaves what a misconception of the bank answers, that and its own. They
cost what the tests say: points never depend on how far a search came.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ...model.course.bank import Bank
from ...model.report.schema import Diagnosis, ExerciseReport, Suspect
from ...repair import named
from ...repair.edit_wording import IGNORED
from .class_causes import FoundPlaces

# Misconceptions are Python files: none has such a name.
_NAME = "line:{}"
IGNORES = _NAME.format(IGNORED)


def with_a_name(report: ExerciseReport, found: FoundPlaces, bank: Bank) -> ExerciseReport:
    """The report with the places of a mistake; where nothing else names it, they do.

    Places of which each would mend it by another kind of change say only where it is.
    """
    report = msgspec.structs.replace(report, suspects=found.lines)
    if report.diagnosis:
        return report
    return with_names(report, (*_beside(report, found, bank), *_by_kind(report, found.places)))


def with_names(report: ExerciseReport, explained: tuple[Diagnosis, ...]) -> ExerciseReport:
    """The report with these names of mistakes."""
    return msgspec.structs.replace(
        report, diagnosis=tuple(d.name for d in explained), explained=explained
    )


def _by_kind(report: ExerciseReport, places: tuple[Suspect, ...]) -> Iterator[Diagnosis]:
    alone = all(place.alone for place in places)
    kinds = {place.kind: place.explains for place in reversed(places)}
    failed = sum(t.verdict.failed and not t.carried for t in report.tests)
    for kind, explains in reversed(kinds.items()) if len(kinds) == 1 or not alone else ():
        told = named(kind)
        if told is not None:
            of = failed if alone or explains else 0
            yield Diagnosis(_NAME.format(kind), *told, explains or of, of)


def _beside(report: ExerciseReport, found: FoundPlaces, bank: Bank) -> Iterator[Diagnosis]:
    for one in bank.of_exercise(report.name):
        if one.name in found.beside:
            yield Diagnosis(one.name, one.title, one.hint)
