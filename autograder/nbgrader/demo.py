"""Create a sample class, and submit a week for it with real nbgrader (`autograder demo`).

solutions/<week>/class.yaml lists the students. Each student's module is assembled from the week's
bank (solution, alternatives and misconceptions) and from faulty programs in class/. Everything is
in the separate project demo/.
"""

import ast
import shutil
from pathlib import Path
from typing import Any

import msgspec
import nbformat

from ..authoring.lesson.handout import ANSWER
from ..model.course import REGISTRY, Course, Week, load
from ..model.course.bank import Bank
from ..model.course.stubs import stub_of
from ..model.errors import KitError
from .workspace import Workspace

FOLDER = "demo"
CLASS = "class.yaml"
_CREATED_BY_DEMO = ".made-by-autograder-demo"


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
        path = folder / f"{week.name}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "markdown" and cell.source == ANSWER:
                cell.source = f"A sample answer by {student.name}, to be marked by the instructor."
        nbformat.write(notebook, path)
    student_step(ExchangeSubmit, course, week, student.name, home)
    return home


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
