"""Name a mistake that the bank does not know by the kind of edit that fixes it.

If one small edit of a student's code makes every failed test pass, its kind names the mistake:
an axis, a scale, an inverted mask. Such names cost what the tests cost: points never depend on
how far a search came.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ...model.report.schema import Diagnosis, ExerciseReport
from ...repair import title_and_hint
from ...repair.edit_wording import IGNORED
from .class_causes import Places, lines_of

# The colon keeps these names apart from those of misconceptions, which are file names.
_NAME = "line:{}"
IGNORES = _NAME.format(IGNORED)


def name_by_location(report: ExerciseReport, places: Places) -> ExerciseReport:
    """Add the places of a mistake to a report, and names if it has none."""
    report = msgspec.structs.replace(report, suspects=lines_of(places))
    return report if report.diagnosis else with_names(report, tuple(_names(report, places)))


def with_names(report: ExerciseReport, explained: tuple[Diagnosis, ...]) -> ExerciseReport:
    """Return the report with these names of mistakes."""
    return msgspec.structs.replace(
        report, diagnosis=tuple(d.name for d in explained), explained=explained
    )


def _names(report: ExerciseReport, places: Places) -> Iterator[Diagnosis]:
    """Name the kinds of edits; not if several kinds would each fix everything."""
    alone = all(place.alone for place in places)
    kinds = {place.kind: place.explains for place in reversed(places)}
    failed = sum(t.verdict.failed and not t.carried for t in report.tests)
    for kind, explains in reversed(kinds.items()) if len(kinds) == 1 or not alone else ():
        wording = title_and_hint(kind)
        if wording is not None:
            total = failed if alone or explains else 0
            yield Diagnosis(_NAME.format(kind), *wording, explains or total, total)
