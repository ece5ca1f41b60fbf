"""Where the lesson speaks about an exercise: the heading above its `check("…")` cell."""

from __future__ import annotations

import json
import re
from pathlib import Path

from .week import WeekFolder


def heading_of(folder: WeekFolder, exercise: str) -> str:
    """The heading, without its number signs; "" if there is no lesson or no such cell."""
    for path, text in _texts(folder):
        found = _above(text, exercise)
        if found:
            return f"{path.name}, section “{found}”"
    return ""


def _texts(folder: WeekFolder) -> list[tuple[Path, str]]:
    texts = []
    for path in (folder.path / f"{folder.week.week}.ipynb", folder.path / "lesson.md"):
        try:
            text = path.read_text(encoding="utf-8")
            texts.append((path, _cells(text) if path.suffix == ".ipynb" else text))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue  # a notebook that a student broke has no headings to offer
    return texts


def _cells(notebook: str) -> str:
    cells = json.loads(notebook)["cells"]
    return "\n".join("".join(c["source"]) for c in cells)


def _above(text: str, exercise: str) -> str:
    call = re.compile(rf"""^\s*check\(["']{re.escape(exercise)}["']\)""")
    heading = ""
    for line in text.split("\n"):
        if line.startswith("## "):
            heading = line.removeprefix("## ").strip()
        elif call.match(line):
            return heading
    return ""
