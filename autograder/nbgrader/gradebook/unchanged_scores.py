"""Whose scores stand in the gradebook already, so that recording them again would change nothing.

nbgrader takes a third of a second for each submission, also where all of it was done before. Here a
second `grade` of a class finds that out from the report that was kept, the gradebook's tables and
the times of files, without importing nbgrader.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from pathlib import Path

from ...model.course.loader import Course, Week
from ...model.report import scoring
from ...model.report.differences import differ
from ...model.report.schema import SubmissionReport
from ...model.report.verdicts import Ending
from ..workspace import Workspace
from .database import read_scores
from .report_store import NOTHING, About, kept_report, submission_of

_SMALL = 1e-6


def cell_scores(week: Week, report: SubmissionReport) -> dict[str, float]:
    """What each exercise's grade cell gets; electives beyond the best few get nothing."""
    counted = {e.name: e.score for e in scoring.counted(week, report.exercises)}
    return {e.name: min(counted.get(e.name, 0.0), e.points) for e in week.exercises}


class Stands(Enum):
    """How a student's scores in the gradebook agree with a report."""

    SETTLED = auto()  # with this very report
    OTHERWISE = auto()  # the same submission had another score


class HeldScores:
    """A week's scores as the gradebook holds them now, to compare reports with.

    abouts: by student, what the report is of, where that is known.
    """

    def __init__(self, course: Course, week: Week, abouts: Mapping[str, About] = NOTHING) -> None:
        self._course, self._week, self._abouts = course, week, abouts
        self._held = read_scores(course).get(week.name, {})

    def of(self, new: SubmissionReport) -> Stands | None:
        """How it agrees with a report; None if there is something to record."""
        course, week = self._course, self._week
        old = kept_report(course, week, new.name)
        if old is None or new.verdict is Ending.GRADER_FAULT:
            return None
        about = self._abouts.get(new.name) or submission_of(course, week, new.name)
        if not old.is_of(about.handed_in, about.content):
            return None
        if new.verdict is Ending.GRADED and abs(old.score - new.score) > _SMALL:
            return Stands.OTHERWISE
        if (
            (old.content, old.notes) == (about.content, about.notes)
            and not differ(old, new)
            and _holds(self._held.get(new.name, {}), week, new)
            and _notebook_is_newer(course, week, new.name)
        ):
            return Stands.SETTLED
        return None


def _holds(scores: dict[str, float | None], week: Week, report: SubmissionReport) -> bool:
    found = [
        (scores.get(name), score, name in scores)
        for name, score in cell_scores(week, report).items()
    ]
    return all(
        there and own is not None and abs(own - score) <= _SMALL for own, score, there in found
    )


def _notebook_is_newer(course: Course, week: Week, student: str) -> bool:
    """Return whether the graded notebook was made after what it was made from."""
    workspace, name = Workspace(course), f"{week.name}.ipynb"
    sources = workspace.submitted(student, week) / name, workspace.released(week) / name
    made = _changed(workspace.autograded(student, week) / name)
    return made is not None and all((_changed(s) or made + 1) <= made for s in sources)


def _changed(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None
