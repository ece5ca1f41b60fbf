"""Find the section of the lesson on an exercise: the heading above its `check("…")` cell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from .week import WeekFolder


def heading_of(folder: WeekFolder, exercise: str) -> str:
    """Return file and section, or "" if there is no lesson or no such cell."""
    call = re.compile(rf"""^\s*check\(["']{re.escape(exercise)}["']\)""")
    for path, text in _lessons(folder):
        heading = ""
        for line in text.split("\n"):
            if line.startswith("## "):
                heading = line.removeprefix("## ").strip()
            elif heading and call.match(line):
                return f"{path.name}, section “{heading}”"
    return ""


def _lessons(folder: WeekFolder) -> Iterator[tuple[Path, str]]:
    for path in (folder.path / f"{folder.week.week}.ipynb", folder.path / "lesson.md"):
        try:
            text = path.read_text(encoding="utf-8")
            if path.suffix == ".ipynb":
                text = "\n".join("".join(c["source"]) for c in json.loads(text)["cells"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue  # a notebook may be damaged
        yield path, text
