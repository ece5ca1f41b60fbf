"""Collect the files of a week that students get, also as a self-contained notebook.

For Colab, Kaggle and VS Code, figures become `data:` URLs in the notebook's text, because some
notebook viewers ignore attachments. The first cell then downloads the week's other files and
installs the kit from a web address or an uploaded zip; it has no effect if both are present.
"""

from __future__ import annotations

import base64
import io
import json
import re
import zipfile
from pathlib import Path

import nbformat

from ...model.course import Course, Week
from ...model.course.stubs import stub_of, stub_problem
from ...model.errors import BuildError
from ...model.submission_files import packed
from ...student.folder.week import DESCRIPTION, describe_week
from ...version import __version__
from ..scaffolding import fill_template
from .leak_check import Secret, check_files
from .lesson_notebook import figures_used, lesson_notebook, lesson_text


def week_files(course: Course, week: Week, release: int = 1) -> dict[str, bytes]:
    """Return the contents of all public files by relative name.

    Raise BuildError if a file is missing or the stub is out of date. `release`: the number of this
    release of the week.
    """
    folder = course.exercise_folder(week)
    if problem := stub_problem(course, week):
        raise BuildError(problem)
    notebook = nbformat.writes(lesson_notebook(course, week), version=4)
    files = {
        f"{week.name}.ipynb": notebook.encode(),
        week.module: stub_of(course, week).encode(),
        DESCRIPTION: describe_week(course, week, release),
    }
    for name in (f"test_{week.stem}.py", "README.md", "hints.md"):
        files[name] = read_or_refuse(course, folder / name, "write it")
    for name in week.files:
        files[name] = read_or_refuse(
            course, course.root / "assets" / name, f"{week.name} lists it as a file"
        )
    for name in week.folders:
        files |= _folder(course, week, name)
    for name in figures_used(lesson_text(course, week)):
        figure = course.figures(week) / name
        files[f"figures/{name}"] = read_or_refuse(
            course, figure, "draw it: `autograder build --figures`"
        )
    return files


def _folder(course: Course, week: Week, name: str) -> dict[str, bytes]:
    folder = course.root / "exercises" / name
    found = {
        path.relative_to(folder.parent).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    if not found:
        raise BuildError(f"exercises/{name} is missing or empty: {week.name} lists it")
    return found


def read_or_refuse(course: Course, path: Path, remedy: str) -> bytes:
    """Return a file's content; raise BuildError with `remedy` if it is missing."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise BuildError(f"{path.relative_to(course.root)} is missing: {remedy}") from None


WHEEL = f"autograder-{__version__}-py3-none-any.whl"
INSTALL = "INSTALL.md"
FETCH = "fetch-the-week"
_FIGURE = re.compile(r"(!\[[^\]]*\]\()(figures/[^)\s]+)(\))")
_KINDS = {".png": "image/png", ".svg": "image/svg+xml", ".jpg": "image/jpeg"}


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
        INSTALL: install_page().encode(),
    }


def fetch_cell(course: Course, week: Week) -> str:
    """Return the code that downloads the week; its address is `handouts` in course.yaml."""
    base = course.registry.handouts
    source = f"{base.rstrip('/')}/{week.name}.zip" if base else ""
    values = {"week": week.name, "source": json.dumps(source)}
    return fill_template("fetch.py.blank", values).rstrip()


def install_page() -> str:
    return fill_template("INSTALL.md.blank", {"wheel": WHEEL})


def zip_week(
    week: Week, files: dict[str, bytes], wheel: Path | None, secrets: tuple[Secret, ...]
) -> bytes:
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
    """Return the path of this version's wheel, or None if `make wheel` has not built it."""
    path = course.root / "dist" / WHEEL
    return path if path.is_file() else None


def _as_data_url(found: re.Match[str], files: dict[str, bytes]) -> str:
    name = found.group(2)
    kind = _KINDS.get(Path(name).suffix)
    if kind is None or name not in files:
        return found.group()
    data = base64.b64encode(files[name]).decode("ascii")
    return f"{found.group(1)}data:{kind};base64,{data}{found.group(3)}"
