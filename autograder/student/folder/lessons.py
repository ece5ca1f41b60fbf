"""Read the week's lesson: the notebook in the folder, or lesson.md."""

from __future__ import annotations

import json
import re

from .week import WeekFolder


def heading_of(folder: WeekFolder, exercise: str) -> str:
    """Return the file and the heading above the exercise's `check("…")` cell, or ""."""
    call = re.compile(rf"""^\s*check\(["']{re.escape(exercise)}["']\)""")
    try:
        page = (folder.path / "lesson.md").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        page = ""
    notebook = "\n".join(source for _, source in notebook_cells(folder))
    for name, text in ((f"{folder.week.week}.ipynb", notebook), ("lesson.md", page)):
        heading = ""
        for line in text.split("\n"):
            if line.startswith("## "):
                heading = line.removeprefix("## ").strip()
            elif heading and call.match(line):
                return f"{name}, section “{heading}”"
    return ""


def notebook_cells(folder: WeekFolder) -> list[tuple[str, str]]:
    """Return (type, source) of each cell of the week's notebook, or [] if it cannot be read."""
    try:
        cells = json.loads((folder.path / f"{folder.week.week}.ipynb").read_bytes())["cells"]
        return [(c["cell_type"], "".join(c["source"])) for c in cells]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []  # the notebook may be damaged
