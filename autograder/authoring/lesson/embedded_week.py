"""A week that a notebook brings along: on Colab, Kaggle or VS Code there may be nothing beside it.

The released notebook shows its figures wherever it lies: they stand in its text as data: addresses,
because not every notebook page shows attachments. Its first cell fetches the week and installs the
kit, from an address or an upload, and does nothing where both are there.
"""

from __future__ import annotations

import base64
import io
import re
import zipfile
from pathlib import Path
from typing import Any

import nbformat
from jinja2 import Environment, PackageLoader, StrictUndefined

from ...model.course.loader import Course, Week
from ...version import __version__
from .leak_check import Secret, check_files

WHEEL = f"autograder-{__version__}-py3-none-any.whl"
INSTALL = "INSTALL.md"
FETCH = "fetch-the-week"
_FIGURE = re.compile(r"(!\[[^\]]*\]\()(figures/[^)\s]+)(\))")
_KINDS = {".png": "image/png", ".svg": "image/svg+xml", ".jpg": "image/jpeg"}
_ZIP_TIME = (2020, 1, 1, 0, 0, 0)  # the same files make the same bytes


def carried(course: Course, week: Week, files: dict[str, bytes]) -> dict[str, bytes]:
    """The week's files with a notebook that brings them along, and how to install the kit."""
    name = f"{week.name}.ipynb"
    notebook = nbformat.reads(files[name].decode(), as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = _FIGURE.sub(lambda found: _shown(found, files), cell.source)
    fetching = nbformat.v4.new_code_cell(fetch_cell(course, week), metadata={"tags": [FETCH]})
    fetching["id"] = FETCH
    first = next((n for n, c in enumerate(notebook.cells) if c.cell_type == "code"), 0)
    notebook.cells.insert(first, fetching)
    return files | {
        name: nbformat.writes(notebook, version=4).encode(),
        INSTALL: install_page().encode(),
    }


def fetch_cell(course: Course, week: Week) -> str:
    """The cell that fetches the week; `handouts` of course.yaml says from where."""
    base = course.registry.handouts
    source = f"{base.rstrip('/')}/{week.name}.zip" if base else ""
    return _filled("fetch.py.blank", week=week.name, source=repr(source).replace("'", '"')).rstrip()


def install_page() -> str:
    return _filled(
        "INSTALL.md.blank",
        wheel=WHEEL,
        wheel_where=f" and the course's wheel, `{WHEEL}`",
        download="0.3 GB",
        disk="1.4 GB",
        minutes="two minutes at 20 Mbit/s and one to unpack",
    )


def zipped(
    week: Week, files: dict[str, bytes], wheel: Path | None, secrets: tuple[Secret, ...]
) -> bytes:
    """The week as one file, with the kit's wheel if there is one; raises LeakError."""
    inside = dict(files)
    if wheel is not None:
        data = wheel.read_bytes()
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            members = {n: packed.read(n) for n in packed.namelist() if not n.endswith("/")}
        check_files(members, secrets, wheel.name)
        inside[wheel.name] = data
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(inside.items()):
            entry = zipfile.ZipInfo(f"{week.name}/{name}", _ZIP_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return out.getvalue()


def built_wheel(course: Course) -> Path | None:
    """The wheel of this version, if `make wheel` has made it."""
    path = course.root / "dist" / WHEEL
    return path if path.is_file() else None


def _shown(found: re.Match[str], files: dict[str, bytes]) -> str:
    name = found.group(2)
    kind = _KINDS.get(Path(name).suffix)
    if kind is None or name not in files:
        return found.group()
    data = base64.b64encode(files[name]).decode("ascii")
    return f"{found.group(1)}data:{kind};base64,{data}{found.group(3)}"


def _filled(template: str, **said: Any) -> str:
    environment = Environment(
        loader=PackageLoader("autograder.authoring"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # Python and Markdown, from names that were checked
    )
    return environment.get_template(template).render(**said)
