"""Compare reports with the scores in the gradebook, to record only what has changed.

A second `grade` of a class then takes no time in nbgrader, which is not even imported.
"""

from __future__ import annotations

from enum import Enum, auto
from pathlib import Path

from ...model.course.loader import Course, Week
from ...model.report import scoring
from ...model.report.differences import differ
from ...model.report.schema import SubmissionReport
from ...model.report.verdicts import Ending
from ..workspace import Workspace
from .database import read_scores
from .report_store import About, kept_report

_TOLERANCE = 1e-6


def cell_scores(week: Week, report: SubmissionReport) -> dict[str, float]:
    """Return the score of each exercise's grade cell; 0 for electives that do not count."""
    counted = {e.name: e.score for e in scoring.counted(week, report.exercises)}
    return {e.name: min(counted.get(e.name, 0.0), e.points) for e in week.exercises}


class Comparison(Enum):
    """How a report compares with what is recorded of the same submission."""

    UNCHANGED = auto()
    RESCORED = auto()  # the same submission has a different score now
    TO_RECORD = auto()


class GradebookScores:
    """A week's scores in the gradebook at the time of reading."""

    def __init__(self, course: Course, week: Week) -> None:
        self._course, self._week = course, week
        self._scores = read_scores(course).get(week.name, {})

    def compare(self, new: SubmissionReport, about: About) -> Comparison:
        """Compare the report of a submission with the recorded one."""
        old = kept_report(self._course, self._week, new.name)
        if old is None or not old.is_of(about.handed_in, about.content):
            return Comparison.TO_RECORD
        if new.verdict is Ending.GRADED and abs(old.score - new.score) > _TOLERANCE:
            return Comparison.RESCORED
        unchanged = (
            (old.content, old.notes) == (about.content, about.notes)
            and not differ(old, new)
            and self._has_scores_of(new)
            and self._notebook_is_current(new.name)
        )
        return Comparison.UNCHANGED if unchanged else Comparison.TO_RECORD

    def _has_scores_of(self, report: SubmissionReport) -> bool:
        scores = self._scores.get(report.name, {})
        return all(
            (held := scores.get(name)) is not None and abs(held - score) <= _TOLERANCE
            for name, score in cell_scores(self._week, report).items()
        )

    def _notebook_is_current(self, student: str) -> bool:
        """Return True if the graded notebook is newer than what it is made from."""
        workspace, name = Workspace(self._course), f"{self._week.name}.ipynb"
        made = _modified(workspace.autograded(student, self._week) / name)
        sources = workspace.submitted(student, self._week), workspace.released(self._week)
        changed = [_modified(folder / name) for folder in sources]
        return made is not None and all(time is not None and time <= made for time in changed)


def _modified(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None
