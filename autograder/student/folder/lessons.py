"""Read a week's hints and lesson, and store which hints were shown and the last results.

hints.md contains a section for each exercise (`## softmax`) with numbered hints, each more concrete
than the one before. The state file is optional: if it is missing, damaged or read-only, only the
number of hints shown and the last results are lost.
"""

import json
import re
from pathlib import Path

import msgspec

from ...files import read_state, replace_file
from ...model.errors import KitError
from ..checks.check_results import State
from .week import WeekFolder

FILE = "hints.md"
_SECTION = re.compile(r"^##\s+`?([A-Za-z_]\w*)`?\s*$")
_HINT = re.compile(r"^\d+\.\s+(.*)$")


class Hint(msgspec.Struct, frozen=True):
    """One hint for an exercise; `number` counts from 1."""

    exercise: str
    text: str
    number: int
    total: int


class LastCheck(msgspec.Struct):
    """The last check of an exercise, with a fingerprint of its code and a digest of the module."""

    state: State
    passed: int
    total: int
    fingerprint: str
    file: str = ""


class StudentState(msgspec.Struct):
    """The content of the state file: the number of hints shown and the last check, by exercise."""

    hints: dict[str, int] = {}
    checked: dict[str, LastCheck] = {}


def load_state(path: Path) -> StudentState:
    return read_state(path, StudentState) or StudentState()


def save_state(path: Path, state: StudentState) -> str:
    """Store the state; return the reason if the file cannot be written, or ""."""
    try:
        replace_file(path, msgspec.json.format(msgspec.json.encode(state), indent=1))
    except OSError as error:
        return error.strerror or str(error)
    return ""


def parse_hints(text: str) -> dict[str, tuple[str, ...]]:
    """Return the hints of each exercise; a line without a number continues the previous hint."""
    hints: dict[str, list[str]] = {}
    section: list[str] | None = None
    for line in text.split("\n"):
        if heading := _SECTION.match(line):
            section = hints.setdefault(heading[1], [])
        elif line.startswith("#"):
            section = None
        elif section is not None and (numbered := _HINT.match(line)):
            section.append(numbered[1])
        elif section and line.strip():
            section[-1] += f" {line.strip()}"
    return {name: tuple(some) for name, some in hints.items()}


def hints_of(folder: WeekFolder, exercise: str) -> list[Hint]:
    """Return all hints for an exercise, or [] if hints.md has none or cannot be read."""
    hints = parse_hints(_text(folder.path / FILE)).get(exercise, ())
    return [Hint(exercise, hint, n, len(hints)) for n, hint in enumerate(hints, start=1)]


def hints_to_show(folder: WeekFolder, exercise: str, again: bool) -> tuple[list[Hint], str]:
    """Return the hints shown so far and the next one, and record the next one as shown.

    again: return only the hints shown so far.
    The second value is a message if there is no hint to show or no next hint, otherwise "".
    Raise KitError if the exercise has no hints, unless `again`.
    """
    state = load_state(folder.memory)
    every = hints_of(folder, exercise)
    shown = every[: state.hints.get(exercise, 0)]
    if again:
        return shown, "" if shown else f"No hint for {exercise} has been shown yet."
    if not every:
        raise KitError(f"there are no hints for {exercise} in {folder.path.name}/{FILE}")
    if shown == every:
        return shown, f"You have seen all hints for {exercise}. Read the lesson, or ask."
    state.hints[exercise] = len(shown) + 1
    if problem := save_state(folder.memory, state):
        return every[: len(shown) + 1], (
            f"{folder.path.name} cannot record that this hint was shown ({problem}), so the hint "
            f"will be shown again. Make the folder writable, or read {FILE}."
        )
    return every[: len(shown) + 1], ""


def heading_of(folder: WeekFolder, exercise: str) -> str:
    """Return the file and heading of the exercise's `check("…")` cell, or "" if not found."""
    call = re.compile(rf"""^\s*check\(["']{re.escape(exercise)}["']\)""")
    path = folder.path / f"{folder.week.week}.ipynb"
    notebook = "\n".join(source for _, source in notebook_cells(path))
    page = _text(folder.path / "lesson.md")
    for name, text in ((path.name, notebook), ("lesson.md", page)):
        heading = ""
        for line in text.split("\n"):
            if line.startswith("## "):
                heading = line.removeprefix("## ").strip()
            elif heading and call.match(line):
                return f"{name}, section “{heading}”"
    return ""


def notebook_cells(path: Path) -> list[tuple[str, str]]:
    """Return the (type, source) of each notebook cell, or [] if the notebook cannot be read."""
    try:
        cells = json.loads(path.read_bytes())["cells"]
        return [(c["cell_type"], "".join(c["source"])) for c in cells]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []  # the notebook may be damaged


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
