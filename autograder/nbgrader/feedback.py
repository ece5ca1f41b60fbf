"""Giving feedback back: nbgrader's page with our explanations in it, and our own page beside it."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..feedback.html import feedback_page
from ..model.course import Course, Week
from ..model.errors import NbgraderError
from .dates import bring_dates
from .rebuild import require_held
from .recorded import kept_report
from .restore import CoursePreprocessor, Notebook, Resources
from .workspace import Workspace, last_words, open_api, open_gradebook

PAGE = "feedback.html"
_FIGURE = re.compile(r"\]\(figures/([\w.-]+\.png)\)")


@dataclass(frozen=True)
class Returned:
    """Whose feedback was released, and what is to be said about the rest."""

    students: list[str]
    notes: list[str]


def return_feedback(
    course: Course,
    week: Week,
    on_done: Callable[[], None] = lambda: None,
    students: Sequence[str] | None = None,
) -> Returned:
    """Generate the feedback of everybody who was graded, and release it to the exchange.

    `students`: of these only.
    """
    workspace = Workspace(course)
    graded = workspace.students("autograded", week) if students is None else students
    if not graded:
        raise NbgraderError(
            f"nobody was graded in {week.name} yet: run `autograder grade {week.name}` first"
        )
    require_held(course, week, _held(course, week))
    bring_dates(course)
    api = open_api(course)
    released, notes = [], []
    for student in graded:
        result = api.generate_feedback(week.name, student)
        on_done()
        folder = workspace.feedback(student, week)
        if not result["success"]:
            notes.append(f"{student}: no feedback was made: {last_words(result)}")
            continue
        if not (folder / "submission_secret.txt").is_file():
            # The secret names the file that only this student can find in the exchange.
            notes.append(
                f"{student}: not handed in through the exchange; give them {PAGE} yourself"
            )
            continue
        result = _release(api, week, student)
        if result["success"]:
            released.append(student)
        else:
            notes.append(f"{student}: not released: {last_words(result)}")
    return Returned(released, notes)


def _held(course: Course, week: Week) -> set[str]:
    """Who has scores in the gradebook."""
    from nbgrader.api import MissingEntry

    with open_gradebook(course) as gradebook:
        try:
            return {s.student.id for s in gradebook.find_assignment(week.name).submissions}
        except MissingEntry:
            return set()


def _release(api: Any, week: Week, student: str) -> dict[str, Any]:
    """What api.release_feedback does, without the misspelt argument that it passes on."""
    from nbgrader.utils import capture_log, temp_attrs

    with temp_attrs(api.coursedir, assignment_id=week.name, student_id=student):
        releasing = api.exchange.ReleaseFeedback(
            coursedir=api.coursedir, authenticator=api.authenticator, parent=api
        )
        result: dict[str, Any] = capture_log(releasing)
        return result


class FinishFeedback(CoursePreprocessor):
    """Puts the lesson's pictures into the page and writes our own page into the same folder."""

    def preprocess(self, nb: Notebook, resources: Resources) -> tuple[Notebook, Resources]:
        course = self.course()
        week = self.week(course, resources)
        student = resources["nbgrader"]["student"]
        workspace = Workspace(course)
        _embed_figures(nb, workspace.released(week) / "figures")
        report = kept_report(course, week, student)
        if report is not None:
            folder = workspace.feedback(student, week)
            folder.mkdir(parents=True, exist_ok=True)
            late = resources["nbgrader"].get("late", "")
            notes = [note.text for note in report.notes]
            page = feedback_page(report, week, course, student=student, late=late, notes=notes)
            (folder / PAGE).write_text(page, encoding="utf-8")
        return nb, resources


def _embed_figures(nb: Notebook, figures: Path) -> None:
    """Only the pictures that we handed out: a path that a student wrote is never opened."""
    known = {p.name: p for p in figures.glob("*.png")}

    def embedded(found: re.Match[str]) -> str:
        path = known.get(found.group(1))
        if path is None:
            return found.group(0)
        data = base64.b64encode(path.read_bytes()).decode("ascii")
        return f"](data:image/png;base64,{data})"

    for cell in nb.cells:
        if cell.cell_type == "markdown":
            cell.source = _FIGURE.sub(embedded, cell.source)
