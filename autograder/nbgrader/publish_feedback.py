"""Generate feedback pages, and release them for `nbgrader fetch_feedback`.

nbgrader's page shows only the notebook. The kit replaces it with a self-contained page
(feedback/render.py) that also shows the score, named mistakes, next steps, late penalties, and
manual marks and comments.
"""

import shutil
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from nbconvert.exporters import Exporter
from nbgrader.api import Gradebook
from traitlets import Bool

from ..feedback.render import feedback_page
from ..feedback.view import Mark, Marks
from ..files import in_turn
from ..model.course import Course, Week
from ..model.errors import NbgraderError
from ..model.submission_files import FROM_NBGRADER, SECRET_FILE, in_short, parse_timestamp
from .collect.cell_repair import CoursePreprocessor, Notebook, Resources
from .collect.groups import author_of
from .formgrader.manual_marks import require_marks
from .gradebook.database import read_gradebook
from .gradebook.due_dates import require_scores, update_dates, update_penalty
from .gradebook.effective_results import lower, results
from .gradebook.final_scores import require_marked
from .gradebook.report_store import recorded_folder, stored_report
from .regrade.regrade_log import answer_note
from .workspace import Workspace, cells_of, exchange_step, last_words, open_api, shared_gradebook


class Returned(msgspec.Struct, frozen=True):
    """The students whose feedback was released; `notes` has the reason for each other student."""

    students: list[str]
    notes: list[str]


def return_feedback(
    course: Course,
    week: Week,
    on_done: Callable[[], None] = lambda: None,
    students: Sequence[str] | None = None,
) -> Returned:
    """Generate feedback and release it to the exchange.

    Raise NbgraderError if the week was not graded, or if the gradebook has lost scores or marks.

    on_done: called after each student. students: defaults to all graded students
    """
    graded = Workspace(course).students("autograded", week) if students is None else students
    if not graded:
        raise NbgraderError(
            f"{week.name} has not been graded yet: run `autograder grade {week.name}` first"
        )
    entered = {e.student for e in read_gradebook(course)[1] if e.week == week.name}
    require_scores(course, week, entered)
    require_marks(course, week)
    update_dates(course)
    api = open_api(course)
    api.config.OnlyMarked.unmarked = True  # the caller decides whether unmarked answers are allowed
    problems = {}
    with shared_gradebook(course) as transaction:
        for student in graded:
            with transaction():
                problems[student] = _return_one(api, course, week, student)
            on_done()
    released = [student for student in graded if not problems[student]]
    return Returned(released, [f"{s}: {problems[s]}" for s in graded if problems[s]])


def _return_one(api: Any, course: Course, week: Week, student: str) -> str:
    """Generate and release a student's page; return "" or the reason why it was not released."""
    workspace = Workspace(course)
    generated = api.generate_feedback(week.name, student)
    if not generated["success"]:
        return f"no feedback was generated: {last_words(generated)}"
    if not (workspace.feedback(student, week) / SECRET_FILE).is_file():
        # nbgrader hashes this secret into a file name that only the student can work out.
        author = author_of(course, week, student)
        reason = "not submitted through the exchange"
        if author != student:
            reason = f"{author} submitted for the group, so nbgrader cannot deliver the page"
        page = workspace.feedback_page(student, week).relative_to(workspace.root)
        return f"{reason}; `autograder serve` shows it, or send them {page}"
    # `api.release_feedback` does not work, because it passes a misspelt argument.
    attributes = {"assignment_id": week.name, "student_id": student}
    _, result = exchange_step(api, "ReleaseFeedback", attributes)
    return "" if result["success"] else f"not released: {last_words(result)}"


class FeedbackPage(Exporter):
    """Exports a notebook as the page that `FinishFeedback` rendered for it."""

    def _file_extension_default(self) -> str:
        return ".html"

    def from_notebook_node(  # type: ignore[override]  # nbconvert's signature
        self, nb: Any, resources: Any = None, **kw: Any
    ) -> tuple[str, Any]:
        _, resources = super().from_notebook_node(nb, resources, **kw)
        return resources["nbgrader"].pop("page"), resources


class OnlyMarked(CoursePreprocessor):
    """Refuses to generate feedback while answers are unmarked, even from nbgrader's commands."""

    unmarked = Bool(False, help="Show unmarked answers as 0.").tag(config=True)

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
    """Updates the late penalty, then renders the page from gradebook, report and notebook."""

    def preprocess(self, nb: Notebook, resources: Resources) -> tuple[Notebook, Resources]:
        from .formgrader.submitted_cells import rendered_cells  # slow to import

        course = self.course()
        about, week = resources["nbgrader"], self.week(course, resources)
        with in_turn(recorded_folder(course, week)), Gradebook(about["db_url"]) as gradebook:
            late = update_penalty(course, gradebook, week, about["student"])
            gradebook.db.commit()
            marks = _marks(gradebook, week, about["student"])
        report = stored_report(course, week, about["student"])
        if report is None:
            raise NbgraderError(f"its report is lost: run `autograder grade {week.name}` again")
        figures = Workspace(course).released(week) / "figures"
        about["page"] = feedback_page(
            report,
            week,
            course,
            student=about["student"],
            late=late,
            notes=[
                *_lower_note(course, week, about["student"]),
                *answer_note(course, week, about["student"]),
                *(note.text for note in report.notes),
            ],
            marks=marks,
            notebook=rendered_cells(nb.cells, figures, below=2),
        )
        _remove_copies(Workspace(course), about["student"], week)
        return nb, resources


def _lower_note(course: Course, week: Week, student: str) -> list[str]:
    less = lower(results(course, week, student))
    if less is None:
        return []
    counts = "The better one counts." if less.best.counts else "Your instructor can restore it."
    time = parse_timestamp(less.best.handed_in)
    date = in_short(time.astimezone(course.zone)) if time else "before"
    return [
        f"Your submission from {date} earned {less.best.kept:g} "
        f"points for this week, your latest one {less.newest.kept:g}. {counts}"
    ]


def _remove_copies(workspace: Workspace, student: str, week: Week) -> None:
    folder = workspace.feedback(student, week)
    pages = {f"{p.stem}.html" for p in workspace.autograded(student, week).glob("*.ipynb")}
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name not in {*pages, *FROM_NBGRADER}:
            path.unlink()


def _marks(gradebook: Any, week: Week, student: str) -> Marks:
    from ..pages.markdown import markdown

    notebook = gradebook.find_submission_notebook(week.name, week.name, student)
    given = (
        Mark(
            name=name,
            score=float(grade.score),
            points=float(grade.max_score),
            by_person=grade.manual_score is not None or bool(grade.extra_credit),
            waiting=bool(grade.needs_manual_grade),
            comment=markdown((comment and comment.comment) or "", below=3),
        )
        for name, (grade, comment) in cells_of(gradebook, week, student).items()
    )
    penalty = float(notebook.late_submission_penalty or 0)
    return Marks(float(notebook.score), float(notebook.max_score), penalty, tuple(given))
