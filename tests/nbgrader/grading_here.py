"""Grade the tiny course in this process, for tests that do not need the sandbox."""

from __future__ import annotations

import contextlib
from typing import Any

from autograder.model.course import Course, Week
from autograder.model.report import scoring
from autograder.model.report.schema import SubmissionReport
from autograder.nbgrader.collect.history import read_student
from tests.nbgrader.tiny_course import graded


def grade_here(
    course: Course, week: Week, student: str, *, lenient: bool = False
) -> SubmissionReport:
    """Grade the submissions in nbgrader's folder; `lenient` graders accept every `halve`."""
    submission = read_student(course, week, student)
    if submission.problem:
        return scoring.refused(student, week, submission.problem)
    names: dict[str, Any] = {}
    right = {"double": False, "halve": lenient}
    try:
        exec(submission.files[week.module], names)  # a test wrote it
    except Exception as error:
        return scoring.refused(student, week, f"{week.module}: {error}")
    for name, expected in (("double", 6.5), ("halve", 1.625)):
        with contextlib.suppress(Exception):
            right[name] |= names[name](3.25) == expected
    return graded(student, 2.0 * right["double"], 1.0 * right["halve"])
