"""Run through a complete course week with a sample class and real nbgrader (`autograder demo`).

In the separate project demo/, the demo releases a week, fetches and submits it as each student,
collects and grades the submissions, and returns feedback. solutions/<week>/class.yaml lists the
students. Each student's module is assembled from the week's bank (solution, alternatives and
misconceptions) and from faulty programs in class/.
"""

import ast
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import nbformat

from ..authoring.lesson.handout import ANSWER
from ..model.course import REGISTRY, Course, Week, load
from ..model.course.bank import Bank
from ..model.course.stubs import stub_of
from ..model.errors import KitError
from ..model.report.schema import Report
from .gradebook.database import GradebookEntry, read_gradebook
from .workspace import Workspace

FOLDER = "demo"
CLASS = "class.yaml"
_CREATED_BY_DEMO = ".made-by-autograder-demo"
Progress = Callable[[str, int], None]  # (current step, number of newly finished steps)


class SampleStudent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sample student, and how to assemble the student's module."""

    name: str
    story: str
    style: str = ""  # alternative from the bank to use in place of the solution
    wrong: tuple[str, ...] = ()  # misconceptions from the bank
    trouble: str = ""  # name of a faulty program in class/ to append
    only: tuple[str, ...] = ()  # exercises that the student has solved, or () for all
    module: str = ""  # wrong file name to submit the module under


def sample_class(course: Course) -> tuple[SampleStudent, ...]:
    """Read the sample class of the first week. Raise KitError if it is missing or invalid."""
    path = course.solution_folder(course.weeks[0]) / CLASS
    try:
        return msgspec.yaml.decode(path.read_bytes(), type=tuple[SampleStudent, ...])
    except FileNotFoundError:
        raise KitError(
            f"the demo needs a sample class: {path.relative_to(course.root)}, a list of students "
            "with `name`, `story`, and how their module is made (`style`, `wrong`, `only`, …)"
        ) from None
    except msgspec.MsgspecError as error:
        raise KitError(f"{path.relative_to(course.root)}: {error}") from None


@dataclass
class DemoResult:
    """The results of the demo week."""

    course: Course
    week: Week
    report: Report
    entries: list[GradebookEntry]  # from the gradebook
    pages: dict[str, Path]  # student -> feedback page
    fetched: dict[str, Path]  # student -> the page that nbgrader delivered
    notes: list[str] = field(default_factory=list)

    def commonest(self) -> list[tuple[str, str, int]]:
        """Return tuples (exercise, misconception, number of students), most common first."""
        counted: Counter[tuple[str, str]] = Counter()
        for submission in self.report.submissions:
            for exercise in submission.exercises:
                counted.update((exercise.name, d.title) for d in exercise.explained[:1])
        return [(name, title, count) for (name, title), count in counted.most_common()]


def steps(project: Course) -> int:
    """Return the total number of steps that `play` reports."""
    return 5 * len(sample_class(project)) + 4


def play(project: Course, progress: Progress = lambda _, __: None) -> DemoResult:
    """Run the course's first week in a new project in demo/; report each step to `progress`."""
    from ..batch.grade import grade_batch
    from ..model.availability import axis
    from .autograde.recorder import record
    from .collect.collector import collect
    from .collect.submissions import collected
    from .publish_feedback import return_feedback
    from .release.publish import release

    progress("setting up a course in demo/", 0)
    course = make_project(project)
    students, week = sample_class(course), course.weeks[0]
    progress(f"releasing {week.name} with nbgrader", 1)
    release(course, week, early=True)
    progress("students fetch the week and submit it", 1)
    bank, homes = Bank(course, week), {}
    for student in students:
        homes[student.name] = submit(course, week, bank, student)
        progress("students fetch the week and submit it", 1)
    progress("collecting", 0)
    collection = collect(course, week, check_owner=False)  # one user owns all submissions
    progress("grading in the sandbox", 1)
    report = grade_batch(
        course,
        week,
        collected(course, week),
        devices=axis(),
        on_done=lambda _: progress("grading in the sandbox", 1),
    )
    recorded = record(course, week, report, on_done=lambda: progress("recording scores", 1))
    progress("generating feedback", 0)
    returned = return_feedback(course, week, on_done=lambda: progress("generating feedback", 1))
    progress("students fetch their feedback", 1)
    fetched = {}
    for student in students:
        if page := fetch_feedback(course, week, student.name, homes[student.name]):
            fetched[student.name] = page
        progress("students fetch their feedback", 1)
    pages = {s: Workspace(course).feedback_page(s, week) for s in returned.students}
    notes = [*collection.notes, *recorded.lines(), *returned.notes]
    _, entries = read_gradebook(course)
    return DemoResult(course, week, report, entries, pages, fetched, notes)


def make_project(project: Course) -> Course:
    """Copy the course into a new project in demo/, replacing the project of an earlier demo.

    Raise KitError if demo/ exists but was not created by the demo.
    """
    folder = project.root / FOLDER
    if folder.exists():
        if not (folder / _CREATED_BY_DEMO).is_file():
            raise KitError(f"{FOLDER}/ was not made by the demo: move it away and try again")
        shutil.rmtree(folder)
    folder.mkdir()
    (folder / _CREATED_BY_DEMO).touch()
    shutil.copy(project.root / REGISTRY, folder / REGISTRY)
    skipped = shutil.ignore_patterns("__pycache__")
    for part in ("exercises", "solutions", "assets", "autograder/graders"):
        shutil.copytree(project.root / part, folder / part, ignore=skipped)
    return load(folder)


def module_of(bank: Bank, student: SampleStudent) -> str:
    """Assemble the source of a student's module from the week's bank."""
    source = bank.alternatives[student.style] if student.style else bank.solution
    mistakes = {m.name: m.source.removeprefix(bank.solution) for m in bank.misconceptions}
    source += "".join(mistakes[name] for name in student.wrong)
    if student.trouble:
        trouble = bank.folder / "class" / f"{student.trouble}.py"
        source += "\n\n" + trouble.read_text(encoding="utf-8")
    if student.only:
        source = _fill_stub(stub_of(bank.course, bank.week), source, student.only)
    return source


def _fill_stub(stub: str, solution: str, names: tuple[str, ...]) -> str:
    solved = {n.name: n for n in ast.parse(solution).body if isinstance(n, ast.FunctionDef)}
    lines, solved_lines = stub.split("\n"), solution.split("\n")
    for node in reversed(ast.parse(stub).body):
        if isinstance(node, ast.FunctionDef) and node.name in names:
            new = solved[node.name]
            lines[node.lineno - 1 : node.end_lineno] = solved_lines[new.lineno - 1 : new.end_lineno]
    return "\n".join(lines)


def submit(course: Course, week: Week, bank: Bank, student: SampleStudent) -> Path:
    """Fetch, complete and submit the week as a student; return the student's home folder."""
    from nbgrader.exchange.default import ExchangeFetchAssignment, ExchangeSubmit

    home = course.root / "students" / student.name
    home.mkdir(parents=True)
    student_step(ExchangeFetchAssignment, course, week, student.name, home)
    folder = home / week.name
    module = folder / week.module
    module.write_text(module_of(bank, student), encoding="utf-8")
    if student.module:
        module.rename(folder / student.module)
    if not student.only:
        _answer_questions(folder / f"{week.name}.ipynb", student)
    student_step(ExchangeSubmit, course, week, student.name, home)
    return home


def _answer_questions(path: Path, student: SampleStudent) -> None:
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and cell.source == ANSWER:
            cell.source = f"A sample answer by {student.name}, to be marked by the instructor."
    nbformat.write(notebook, path)


def fetch_feedback(course: Course, week: Week, student: str, home: Path) -> Path | None:
    """Run nbgrader's fetch_feedback as a student; return the page, or None if none arrived."""
    from nbgrader.exchange.default import ExchangeFetchFeedback

    student_step(ExchangeFetchFeedback, course, week, student, home)
    return next((home / week.name / "feedback").rglob("*.html"), None)


def student_step(step: Any, course: Course, week: Week, student: str, home: Path) -> None:
    """Run one of nbgrader's student commands with the student's own cache and folder."""
    from nbgrader.auth import Authenticator
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import Config

    config = Config()
    config.CourseDirectory.course_id = course.id
    config.CourseDirectory.student_id = student
    config.CourseDirectory.assignment_id = week.name
    config.Exchange.root = str(Workspace(course).exchange)
    config.Exchange.cache = str(home / ".cache")
    config.Exchange.assignment_dir = str(home)
    coursedir = CourseDirectory(config=config)
    step(coursedir=coursedir, authenticator=Authenticator(config=config), config=config).start()
