"""Build the files of a week that students get: the lesson as a notebook, and all other files.

A lesson is jupytext Markdown with two kinds of marks. A code cell that contains only
`check("mean_pool")` becomes the graded cell of that exercise. A line `<!-- answer: why -->` becomes
the cell in which students answer that question. Each exercise and each question in course.yaml
needs exactly one mark. Cell ids are derived from the content of the cells, so that the same lesson
always gives the same notebook.

For Colab, Kaggle and VS Code, `embed_week` makes the notebook self-contained. Figures become
`data:` URLs in the text, because some notebook viewers ignore attachments. A new first code cell
downloads the week's other files and installs the kit, from a web address or an uploaded zip, unless
the files and the kit are already present.
"""

import base64
import hashlib
import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jupytext
import nbformat

from ...files import read_folder
from ...model.availability import CPU_BUILDS
from ...model.course import Course, Week
from ...model.course.registry import Exercise, Question
from ...model.course.stubs import stub_of, stub_problem
from ...model.errors import BuildError
from ...model.submission_files import Files, packed
from ...student.folder.week import DESCRIPTION, describe_week
from ...version import __version__
from ..scaffolding import fill_template
from .leak_check import Secret, check_files

WHEEL = f"gradewright_student-{__version__}-py3-none-any.whl"
INSTALL = "INSTALL.md"
AGENTS = "AGENTS.md"
FETCH = "fetch-the-week"
ANSWER = "*Your answer here.*"
_CHECK = re.compile(r"""check\(\s*(["'])([^"']+)\1\s*\)""")
_ANSWER = re.compile(r"^<!--\s*answer:\s*(\S*)\s*-->\s*$", re.MULTILINE)
_FIGURE = re.compile(r"(!\[[^\]]*\]\()figures/([^)\s]+)\)")
_SCHEMA = 3
_KINDS = {".png": "image/png", ".svg": "image/svg+xml", ".jpg": "image/jpeg"}
Notebook = Any  # nbformat has no types


def lesson_path(course: Course, week: Week) -> Path:
    return course.exercise_folder(week) / "lesson.md"


def lesson_text(course: Course, week: Week) -> str:
    path = lesson_path(course, week)
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BuildError(f"{path.relative_to(course.root)}: the lesson is missing") from None


def lesson_notebook(course: Course, week: Week) -> Notebook:
    """Return the notebook of a week's lesson; raise BuildError if the lesson has a mistake."""
    location = str(lesson_path(course, week).relative_to(course.root))
    return make_notebook(lesson_text(course, week), week, location)


def make_notebook(text: str, week: Week, location: str) -> Notebook:
    """Convert the text of a lesson to a notebook. `location`: the lesson's path for errors."""
    cells = [c for cell in jupytext.reads(text, fmt="md").cells for c in _converted(cell, week)]
    _check_marks(cells, week, location)
    notebook = nbformat.v4.new_notebook(
        cells=_identified(cells),
        metadata={
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
    )
    nbformat.validate(notebook)
    return notebook


def figures_used(text: str) -> list[str]:
    """Return the file names of the figures in a lesson, in order of first use."""
    return list(dict.fromkeys(name for _, name in _FIGURE.findall(text)))


def _converted(cell: Notebook, week: Week) -> Iterator[Notebook]:
    if cell.cell_type == "code":
        check = _CHECK.fullmatch(cell.source.strip())
        metadata = _grading(check[2], week.exercises, solution=False) if check else {}
        yield nbformat.v4.new_code_cell(cell.source, metadata=metadata)
        return
    for number, part in enumerate(_ANSWER.split(cell.source)):
        if number % 2:
            metadata = _grading(part, week.questions, solution=True)
            yield nbformat.v4.new_markdown_cell(ANSWER, metadata=metadata)
        elif part.strip():
            yield nbformat.v4.new_markdown_cell(part.strip("\n"))


def _grading(name: str, tasks: Sequence[Exercise | Question], *, solution: bool) -> dict[str, Any]:
    """Return a cell's nbgrader metadata. `solution`: True if students write in the cell."""
    points = next((task.points for task in tasks if task.name == name), 0)
    grading = {
        "grade": True,
        "grade_id": name,
        "locked": not solution,
        "points": float(points),
        "schema_version": _SCHEMA,
        "solution": solution,
        "task": False,
    }
    return {"nbgrader": grading}


def _identified(cells: list[Notebook]) -> list[Notebook]:
    """Set reproducible ids, which depend only on the content of the cells, and return the cells."""
    seen: Counter[str] = Counter()
    for cell in cells:
        grading = cell.metadata.get("nbgrader")
        if grading:
            cell["id"] = f"grade-{grading['grade_id']}"[:64]
            continue
        digest = hashlib.blake2b(cell.source.encode(), digest_size=6).hexdigest()
        cell["id"] = f"{digest}-{seen[digest]}" if seen[digest] else digest
        seen[digest] += 1
    return cells


def _check_marks(cells: list[Notebook], week: Week, location: str) -> None:
    """Raise BuildError unless each exercise and each question has exactly one mark."""
    graded = [c for c in cells if "nbgrader" in c.metadata]
    for kind, cell_type, tasks, mark in (
        ("exercise", "code", week.exercises, 'a code cell `check("{}")`'),
        ("question", "markdown", week.questions, "a line `<!-- answer: {} -->`"),
    ):
        names = [task.name for task in tasks]
        found = Counter(c.metadata.nbgrader.grade_id for c in graded if c.cell_type == cell_type)
        for name, times in found.items():
            if name not in names:
                raise BuildError(
                    f"{location}: {mark.format(name)}: course.yaml has no {kind} of that name, "
                    f"only {', '.join(names) or 'none'}"
                )
            if times > 1:
                raise BuildError(f"{location}: {mark.format(name)} appears {times} times: keep one")
        for name in names:
            if name not in found:
                raise BuildError(
                    f"{location}: the {kind} {name!r} is missing: add {mark.format(name)}"
                )


def week_files(course: Course, week: Week, release: int = 1) -> dict[str, bytes]:
    """Return the contents of all public files of a week by relative name.

    release: the number of this release of the week
    Raise BuildError if a file is missing or the stub is out of date.
    """
    folder = course.exercise_folder(week)
    if problem := stub_problem(course, week):
        raise BuildError(problem)
    notebook = nbformat.writes(lesson_notebook(course, week), version=4)
    files = {
        f"{week.name}.ipynb": notebook.encode(),
        week.module: stub_of(course, week).encode(),
        DESCRIPTION: describe_week(course, week, release),
        # AI assistants look for their instructions in a file of this name
        AGENTS: fill_template("AGENTS.md.blank", {"week": week}).encode(),
    }
    for name in (f"test_{week.stem}.py", "README.md", "hints.md"):
        files[name] = read_or_refuse(course, folder / name, "write it")
    for name in week.files:
        path = course.root / "assets" / name
        files[name] = read_or_refuse(course, path, f"{week.name} lists it as a file")
    for name in week.folders:
        root = course.root / "exercises"
        if not (found := read_folder(root / name, root)):
            raise BuildError(f"exercises/{name} is missing or empty: {week.name} lists it")
        files |= found
    for name in figures_used(lesson_text(course, week)):
        path = course.figures(week) / name
        drawing = "draw it: `autograder build --figures`"
        files[f"figures/{name}"] = read_or_refuse(course, path, drawing)
    return files


def read_or_refuse(course: Course, path: Path, remedy: str) -> bytes:
    """Return a file's content; raise BuildError with `remedy` if it is missing."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise BuildError(f"{path.relative_to(course.root)} is missing: {remedy}") from None


def embed_week(course: Course, week: Week, files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files with a self-contained notebook and installation instructions."""
    name = f"{week.name}.ipynb"
    notebook = nbformat.reads(files[name].decode(), as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = _FIGURE.sub(lambda found: _as_data_url(found, files), cell.source)
    fetching = nbformat.v4.new_code_cell(fetch_cell(course, week), metadata={"tags": [FETCH]})
    fetching["id"] = FETCH
    first = next((n for n, c in enumerate(notebook.cells) if c.cell_type == "code"), 0)
    notebook.cells.insert(first, fetching)
    return files | {
        name: nbformat.writes(notebook, version=4).encode(),
        INSTALL: install_page(course).encode(),
    }


def fetch_cell(course: Course, week: Week) -> str:
    """Return code that gets the week from `handouts` in course.yaml or, if unset, an upload."""
    base = course.registry.handouts
    source = f"{base.rstrip('/')}/{week.name}.zip" if base else ""
    torch = "torch" in week.libraries
    values = {"week": week.name, "source": json.dumps(source), "torch": torch}
    return fill_template("fetch.py.blank", values).rstrip()


def install_page(course: Course) -> str:
    """Return the course's own INSTALL.md, or else instructions for the libraries of its weeks."""
    own = course.root / INSTALL
    if own.is_file():
        return own.read_text(encoding="utf-8")
    values = {
        "title": course.title,
        "environment": course.id,
        "wheel": WHEEL,
        "torch": any("torch" in week.libraries for week in course.weeks),
        "cpu_builds": CPU_BUILDS,
    }
    return fill_template("INSTALL.md.blank", values)


def zip_week(week: Week, files: Files, wheel: Path | None, secrets: tuple[Secret, ...]) -> bytes:
    """Return the week as a zip, including the kit's wheel if there is one.

    Raise LeakError if the wheel contains a secret line.
    """
    inside = dict(files)
    if wheel is not None:
        data = wheel.read_bytes()
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {n: archive.read(n) for n in archive.namelist() if not n.endswith("/")}
        check_files(members, secrets, wheel.name)
        inside[wheel.name] = data
    return packed({f"{week.name}/{name}": content for name, content in inside.items()})


def built_wheel(course: Course) -> Path | None:
    """Return this version's students' wheel, from the course's dist/ or from the installed kit."""
    found = (folder / WHEEL for folder in (course.root / "dist", Path(__file__).parent))
    return next(filter(Path.is_file, found), None)


def _as_data_url(found: re.Match[str], files: dict[str, bytes]) -> str:
    name = f"figures/{found[2]}"
    kind = _KINDS.get(Path(name).suffix)
    if kind is None or name not in files:
        return found.group()
    data = base64.b64encode(files[name]).decode("ascii")
    return f"{found[1]}data:{kind};base64,{data})"
