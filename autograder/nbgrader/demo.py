"""A whole course week on a sample class, with real nbgrader: what `autograder demo` plays.

Everything happens in demo/, a small project of its own: release, fetch, hand in, collect, grade,
feedback, fetch feedback. The students of solutions/<week>/class.yaml are made from the week's
bank: its solution, alternatives and misconceptions, and pieces of trouble in class/.
"""

from __future__ import annotations

import ast
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import nbformat

from ..authoring.lesson.lesson_notebook import ANSWER
from ..model.course.bank import Bank
from ..model.course.loader import REGISTRY, Course, Week, load
from ..model.course.stubs import stub_of
from ..model.errors import KitError
from ..model.report.schema import Report
from .gradebook.transfer import WeekStanding

FOLDER = "demo"
_MARK = ".made-by-autograder-demo"
CLASS = "class.yaml"
Told = Callable[[str, int], None]


class Pupil(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sample student: how their module is made, and what one would say about them."""

    name: str
    story: str
    style: str = ""  # the alternative they wrote, instead of the solution
    wrong: tuple[str, ...] = ()  # misconceptions of the bank
    trouble: str = ""  # a file in class/
    only: tuple[str, ...] = ()  # the exercises they got round to, where not all
    module: str = ""  # the file name they chose, where it is not the right one


def sample_class(course: Course) -> tuple[Pupil, ...]:
    """The sample class of the first week; raises KitError if the course has none."""
    path = course.solution_folder(course.weeks[0]) / CLASS
    try:
        return msgspec.yaml.decode(path.read_bytes(), type=tuple[Pupil, ...])
    except FileNotFoundError:
        raise KitError(
            f"the demo needs a sample class: {path.relative_to(course.root)}, a list of students "
            "with `name` and `story`, and what they hand in (`style`, `wrong`, `only`, …)"
        ) from None
    except msgspec.MsgspecError as error:
        raise KitError(f"{path.relative_to(course.root)}: {error}") from None


@dataclass
class Played:
    """What came out of the week."""

    course: Course
    week: Week
    report: Report
    standings: list[WeekStanding]
    pages: dict[str, Path]  # student -> the feedback page
    fetched: dict[str, Path]  # student -> nbgrader's page, as they fetched it
    said: list[str] = field(default_factory=list)

    def commonest(self) -> list[tuple[str, str, int]]:
        """(exercise, what it looks like, number of students), the commonest first."""
        counted: Counter[tuple[str, str]] = Counter()
        for submission in self.report.submissions:
            for exercise in submission.exercises:
                counted.update((exercise.name, d.title) for d in exercise.explained[:1])
        return [(name, title, count) for (name, title), count in counted.most_common()]


def steps(project: Course) -> int:
    """How many steps of progress a demo reports: five per student and four for all."""
    return 5 * len(sample_class(project)) + 4


def play(project: Course, told: Told = lambda _, __: None) -> Played:
    """Play week 1; `told` gets what is being done and how many steps were finished."""
    from ..batch.grade import grade_batch
    from ..model.device_axes import axis
    from .collect.collector import collect
    from .feedback.publish_feedback import return_feedback
    from .gradebook.transfer import collected, record, standings
    from .release.publish import release
    from .workspace import Workspace

    told("setting up a course in demo/", 0)
    course = make_project(project)
    pupils = sample_class(course)
    week, workspace = course.weeks[0], Workspace(course)
    told(f"releasing {week.name} through nbgrader", 1)
    release(course, week, early=True)
    told("students fetch the week and hand it in", 1)
    bank, homes = Bank(course, week), {}
    for pupil in pupils:
        homes[pupil.name] = hand_in(course, week, bank, pupil)
        told("students fetch the week and hand it in", 1)
    told("collecting", 0)
    collection = collect(course, week, check_owner=False)  # one user plays them all
    told("grading in the sandbox", 1)
    report = grade_batch(
        course,
        week,
        collected(course, week),
        devices=axis(),
        on_done=lambda _: told("grading in the sandbox", 1),
    )
    said = record(course, week, report, on_done=lambda: told("filling nbgrader's gradebook", 1))
    told("writing feedback", 0)
    returned = return_feedback(course, week, on_done=lambda: told("releasing feedback", 1))
    told("students fetch their feedback", 1)
    fetched = {}
    for pupil in pupils:
        found = fetch_feedback(course, week, pupil.name, homes[pupil.name])
        if found:
            fetched[pupil.name] = found
        told("students fetch their feedback", 1)
    pages = {s: workspace.feedback_page(s, week) for s in returned.students}
    notes = [*collection.notes, *said.lines(), *returned.notes]
    return Played(course, week, report, standings(course, week), pages, fetched, notes)


def make_project(project: Course) -> Course:
    """A project of its own in demo/, made afresh, with what the first week needs."""
    folder = project.root / FOLDER
    if folder.exists():
        if not (folder / _MARK).is_file():
            raise KitError(f"{FOLDER}/ was not made by the demo: move it away and try again")
        shutil.rmtree(folder)
    folder.mkdir()
    (folder / _MARK).touch()
    shutil.copy(project.root / REGISTRY, folder / REGISTRY)
    for part in ("exercises", "solutions", "assets", "autograder/graders"):
        shutil.copytree(
            project.root / part, folder / part, ignore=shutil.ignore_patterns("__pycache__")
        )
    return load(folder)


def module_of(bank: Bank, pupil: Pupil) -> str:
    """What a pupil writes: the solution in some style, with their own mistakes in its place."""
    styles = {a.name: a.source for a in bank.alternatives}
    source = styles[pupil.style] if pupil.style else bank.solution
    mistakes = {m.name: m.source.removeprefix(bank.solution) for m in bank.misconceptions}
    for name in pupil.wrong:
        source += mistakes[name]
    if pupil.trouble:
        source += "\n\n" + (bank.folder / "class" / f"{pupil.trouble}.py").read_text(
            encoding="utf-8"
        )
    if pupil.only:
        source = _filled(stub_of(bank.course, bank.week), source, pupil.only)
    return source


def _filled(stub: str, solution: str, names: tuple[str, ...]) -> str:
    """The stub with some of its functions written."""
    written = {n.name: n for n in ast.parse(solution).body if isinstance(n, ast.FunctionDef)}
    lines, from_solution = stub.split("\n"), solution.split("\n")
    for node in reversed(ast.parse(stub).body):
        if isinstance(node, ast.FunctionDef) and node.name in names:
            new = written[node.name]
            lines[node.lineno - 1 : node.end_lineno] = from_solution[
                new.lineno - 1 : new.end_lineno
            ]
    return "\n".join(lines)


def hand_in(course: Course, week: Week, bank: Bank, pupil: Pupil) -> Path:
    """Fetch, fill in, submit, as nbgrader does it for one student; returns the student's folder."""
    from nbgrader.exchange.default import ExchangeFetchAssignment, ExchangeSubmit

    home = course.root / "students" / pupil.name
    home.mkdir(parents=True)
    _student_step(ExchangeFetchAssignment, course, week, pupil.name, home)
    folder = home / week.name
    (folder / week.module).write_text(module_of(bank, pupil), encoding="utf-8")
    if pupil.module:
        (folder / week.module).rename(folder / pupil.module)
    if not pupil.only:
        _answer(folder / f"{week.name}.ipynb", pupil)
    _student_step(ExchangeSubmit, course, week, pupil.name, home)
    return home


def _answer(path: Path, pupil: Pupil) -> None:
    """Say something in place of the written questions."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and cell.source == ANSWER:
            cell.source = f"An answer by {pupil.name}, to be marked by a person."
    nbformat.write(notebook, path)


def fetch_feedback(course: Course, week: Week, student: str, home: Path) -> Path | None:
    """nbgrader's fetch_feedback for one student; the page that it brought."""
    from nbgrader.exchange.default import ExchangeFetchFeedback

    _student_step(ExchangeFetchFeedback, course, week, student, home)
    return next((home / week.name / "feedback").rglob("*.html"), None)


def _student_step(step: Any, course: Course, week: Week, student: str, home: Path) -> None:
    """One of nbgrader's student commands, with a cache and a folder of this student's own."""
    from nbgrader.auth import Authenticator
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import Config

    from .workspace import Workspace

    config = Config()
    config.CourseDirectory.course_id = course.id
    config.CourseDirectory.student_id = student
    config.CourseDirectory.assignment_id = week.name
    config.Exchange.root = str(Workspace(course).exchange)
    config.Exchange.cache = str(home / ".cache")
    config.Exchange.assignment_dir = str(home)
    coursedir = CourseDirectory(config=config)
    step(coursedir=coursedir, authenticator=Authenticator(config=config), config=config).start()
