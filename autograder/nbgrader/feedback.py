"""Giving feedback back: one page per student and week, as `nbgrader fetch_feedback` brings it.

nbgrader makes a page of the notebook alone. In its place goes ours (feedback/html.py), in one file:
score, named mistakes, what to look at next, the arithmetic of late work, the marks and comments of
a person, and below them the notebook.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from nbgrader.api import BaseCell, Comment, Grade, Gradebook
from traitlets import Bool

from ..feedback.html import feedback_page
from ..feedback.marks import Mark, Marks
from ..model.course import Course, Week
from ..model.errors import NbgraderError
from ..model.report import ExerciseReport, SubmissionReport
from ..model.timestamps import parse_timestamp
from ..model.verdicts import Ending
from .database import read_gradebook
from .dates import bring_dates
from .groups import author_of
from .handmarks import require_marks
from .opened import one_gradebook
from .rebuild import require_held
from .recorded import kept_report, note_shown_penalty
from .requests import answer_note
from .restore import CoursePreprocessor, Notebook, Resources
from .results import lower
from .series import giving_feedback, run_one
from .spread import on_all_cores
from .standing import require_marked
from .submitted import FROM_NBGRADER
from .workspace import Workspace, last_words, open_api


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

    `students`: of these only. `on_done` is not called before the processes that help are forked.
    """
    workspace = Workspace(course)
    graded = workspace.students("autograded", week) if students is None else students
    if not graded:
        raise NbgraderError(
            f"nobody was graded in {week.name} yet: run `autograder grade {week.name}` first"
        )
    require_held(course, week, _held(course, week))
    require_marks(course, week)
    bring_dates(course)
    api = open_api(course)
    api.config.OnlyMarked.unmarked = True  # whoever calls has looked, or wants it so
    series = giving_feedback(api)
    give = partial(_give, api, series, course, week)
    opened = partial(one_gradebook, course)
    with opened():
        said = {graded[0]: give(graded[0])}  # so that what all need is there before the rest begin
    for student, note in on_all_cores(give, opened, graded[1:]):
        said[student] = note
        on_done()
    on_done()
    released = [student for student in graded if not said[student]]
    return Returned(released, [f"{s}: {said[s]}" for s in graded if said[s]])


def _give(api: Any, series: Any, course: Course, week: Week, student: str) -> str:
    """Make a student's page and release it; returns why it was not, or ""."""
    workspace = Workspace(course)
    try:
        run_one(api, series, week.name, student)
    except NbgraderError as error:
        return f"no feedback was made: {error}"
    if not (workspace.feedback(student, week) / "submission_secret.txt").is_file():
        # The secret names the file that only this student can find in the exchange.
        author = author_of(course, week, student)
        how = "not handed in through the exchange"
        if author != student:
            how = f"{author} handed in for their group, so nbgrader brings them no page"
        page = workspace.feedback_page(student, week).relative_to(workspace.root)
        return f"{how}; `autograder serve` shows it, or give them {page}"
    result = _release(api, week, student)
    return "" if result["success"] else f"not released: {last_words(result)}"


def _held(course: Course, week: Week) -> set[str]:
    """Who has scores in the gradebook."""
    _, entries = read_gradebook(course)
    return {e.student for e in entries if e.week == week.name}


def _release(api: Any, week: Week, student: str) -> dict[str, Any]:
    """What api.release_feedback does, without the misspelt argument that it passes on."""
    from nbgrader.utils import capture_log, temp_attrs

    with temp_attrs(api.coursedir, assignment_id=week.name, student_id=student):
        releasing = api.exchange.ReleaseFeedback(
            coursedir=api.coursedir, authenticator=api.authenticator, parent=api
        )
        result: dict[str, Any] = capture_log(releasing)
        return result


class OnlyMarked(CoursePreprocessor):
    """Makes no feedback that would show 0 for an answer that nobody has read.

    It holds for nbgrader's own command and for Formgrader's button as well.
    """

    unmarked = Bool(False, help="Make it although answers wait to be marked.").tag(config=True)

    def preprocess(self, nb: Notebook, resources: Resources) -> tuple[Notebook, Resources]:
        if self.unmarked:
            return nb, resources
        course, student = self.course(), resources["nbgrader"]["student"]
        try:
            require_marked(course, [self.week(course, resources)], [student])
        except NbgraderError as error:
            self.log.error("%s: %s (here: --OnlyMarked.unmarked=True)", student, error)
            raise
        return nb, resources


class FinishFeedback(CoursePreprocessor):
    """Writes the page, once the gradebook was asked."""

    def preprocess(self, nb: Notebook, resources: Resources) -> tuple[Notebook, Resources]:
        from .shown import shown_cells  # the sanitizer takes a while to load

        course = self.course()
        about, week = resources["nbgrader"], self.week(course, resources)
        with Gradebook(about["db_url"]) as gradebook:
            marks = _marks(gradebook, about)
        kept = kept_report(course, week, about["student"])
        about["page"] = feedback_page(
            kept or _unexplained(week, marks, about),
            week,
            course,
            student=about["student"],
            late=about.get("late", ""),
            notes=[
                *_lower_note(course, week, about["student"]),
                *answer_note(course, week, about["student"]),
                *(note.text for note in (kept.notes if kept else ())),
            ],
            marks=marks,
            notebook=shown_cells(nb, Workspace(course).released(week) / "figures", below=2),
        )
        note_shown_penalty(course, week, about["student"], marks.penalty)
        _remove_copies(Workspace(course), about["student"], week)
        return nb, resources


def _lower_note(course: Course, week: Week, student: str) -> list[str]:
    """Tell a student whose latest submission earned less than an earlier one."""
    less = lower(course, week, student)
    if less is None:
        return []
    counts = "The better one counts." if less.best.counts else "Your instructor can restore it."
    return [
        f"Your submission from {_date(course, less.best.handed_in)} earned {less.best.kept:g} "
        f"points for this week, your latest one {less.newest.kept:g}. {counts}"
    ]


def _date(course: Course, handed_in: str) -> str:
    """Return nbgrader's time stamp as a date in the course's time zone."""
    moment = parse_timestamp(handed_in)
    if moment is None:
        return "before"
    local = moment.astimezone(course.zone)
    return f"{local.day} {local:%B, %H:%M}"


def _remove_copies(workspace: Workspace, student: str, week: Week) -> None:
    """Take what was handed in out of the feedback's folder: nbgrader copies all of it there."""
    folder = workspace.feedback(student, week)
    pages = {f"{p.stem}.html" for p in workspace.autograded(student, week).glob("*.ipynb")}
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        elif path.parent != folder or path.name not in {*pages, *FROM_NBGRADER}:
            path.unlink()


def _marks(gradebook: Any, about: Resources) -> Marks:
    from ..pages.markdown import markdown

    notebook = gradebook.find_submission_notebook(
        about["notebook"], about["assignment"], about["student"]
    )
    asked = gradebook.db.query(Comment, BaseCell.name).join(
        BaseCell, BaseCell.id == Comment.cell_id
    )
    comments = {n: c.comment or "" for c, n in asked.filter(Comment.notebook_id == notebook.id)}
    asked = gradebook.db.query(Grade, BaseCell.name, Grade.max_score)
    asked = asked.join(BaseCell, BaseCell.id == Grade.cell_id)
    given = (
        Mark(
            name=str(name),
            score=float(grade.score),
            points=float(points),
            by_person=grade.manual_score is not None or bool(grade.extra_credit),
            waiting=bool(grade.needs_manual_grade),
            comment=markdown(comments.get(name, ""), below=3),
        )
        for grade, name, points in asked.filter(Grade.notebook_id == notebook.id)
    )
    penalty = float(notebook.late_submission_penalty or 0)
    return Marks(float(notebook.score), float(notebook.max_score), penalty, tuple(given))


def _unexplained(week: Week, marks: Marks, about: Resources) -> SubmissionReport:
    """What is known where the report is missing: the points that the gradebook holds."""
    found = [(e.name, marks.of(e.name), e.points) for e in week.exercises]
    exercises = tuple(ExerciseReport(n, m.score if m else 0.0, p) for n, m, p in found)
    score, most = sum(e.score for e in exercises), sum(e.max_score for e in exercises)
    return SubmissionReport(about["student"], Ending.GRADED, score, most, 0.0, "", exercises)
