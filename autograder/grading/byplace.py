"""A name for a mistake that the bank does not know, from the change that mends it.

Where one small change of a student's code makes every failed test pass, its kind says what the
mistake is: an axis, a scale, a mask read the other way round. It costs what the tests say: points
never depend on how far a search came.
"""

from __future__ import annotations

import msgspec

from ..model.report import Diagnosis, ExerciseReport
from ..repair import named

# Misconceptions are Python files: none has such a name.
_NAME = "line:{}"


def with_a_name(report: ExerciseReport) -> ExerciseReport:
    """The report of a wrong exercise; where nothing else names its mistake, its place does.

    Places that would mend it by changes of different kinds say only where it is.
    """
    kinds = {place.kind for place in report.suspects}
    if report.diagnosis or len(kinds) != 1:
        return report
    kind = kinds.pop()
    told = named(kind)
    if told is None:
        return report
    failed = sum(t.verdict.failed and not t.carried for t in report.tests)
    name = _NAME.format(kind)
    return msgspec.structs.replace(
        report, diagnosis=(name,), explained=(Diagnosis(name, *told, failed, failed),)
    )
