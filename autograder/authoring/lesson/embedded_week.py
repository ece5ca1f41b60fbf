"""Make a released notebook self-contained for Colab, Kaggle and VS Code.

Figures become `data:` URLs in the notebook's text, because some notebook viewers ignore
attachments. The first cell downloads the week's other files and installs the kit from a web address
or an uploaded zip; it has no effect if both are present.
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
from ...model.submission_zip import packed
from ...version import __version__
from ..template_text import fill_template
from .leak_check import Secret, check_files

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
