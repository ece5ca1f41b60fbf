"""Reading a course: course.yaml as typed, validated objects (registry.py has the types).

A mistake is reported in one line that starts with the file and the path to the value, such as
`course.yaml: weeks[0].exercises[1].points: must not be negative, but is -1`.
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

import msgspec

from ..errors import CourseError, NoCourse
from .folder_checks import folder_problems
from .registry import (
    Course,
    Exercise,
    Extension,
    Immediate,
    Late,
    Limits,
    Lms,
    Nbgrader,
    Question,
    Registry,
    Scoring,
    Suspects,
    Week,
)
from .validation import mended, problems
from .yaml_text import REGISTRY, read_yaml

__all__ = [
    "REGISTRY",
    "Course",
    "Exercise",
    "Extension",
    "Immediate",
    "Late",
    "Limits",
    "Lms",
    "Nbgrader",
    "Question",
    "Registry",
    "Scoring",
    "Suspects",
    "Week",
    "find_root",
    "load",
    "parse",
]


def find_root(start: Path | None = None) -> Path:
    """The nearest folder at or above `start` that holds course.yaml."""
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        with contextlib.suppress(OSError):  # a folder that is closed to us is none of ours
            if (folder / REGISTRY).is_file():
                return folder
    raise NoCourse(
        f"this command needs the course's project folder, and there is no {REGISTRY} in {start} or "
        "above it: `cd` to the project and try again"
    )


def load(root: Path | None = None, *, unfinished: bool = False) -> Course:
    """Read and validate the registry of the project at `root` (default: found from here).

    What it names must be there; an `unfinished` course needs no more than its folders.
    """
    root = root.resolve() if root else find_root()
    path = root / REGISTRY
    try:
        registry = parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CourseError(f"{path}: there is no such file") from None
    except UnicodeDecodeError as error:
        raise CourseError(f"{REGISTRY}: not UTF-8 text: {error}") from None
    course = Course(root, registry)
    for where, message in folder_problems(course, unfinished=unfinished):
        raise CourseError(f"{REGISTRY}: {where}: {message}")
    return course


def parse(text: str) -> Registry:
    """The registry from YAML text; raises CourseError with the path to the first mistake."""
    raw = read_yaml(text)
    immediate = raw.get("immediate") if isinstance(raw, dict) else None
    if isinstance(immediate, dict) and "counts" in immediate:
        raise CourseError(
            f"{REGISTRY}: immediate.counts: this setting moved: delete it and write "
            "`counts: latest` or `counts: best` at the top level"
        )
    try:
        registry = msgspec.convert(raw, Registry, strict=True)
    except msgspec.ValidationError as error:
        message, _, where = str(error).partition("$")
        where = where.rstrip("`").lstrip(".")
        said = mended(
            message.partition(" - at ")[0], "`key`" in message, _fields(where), _choices(where)
        )
        raise CourseError(f"{REGISTRY}: {where or 'top level'}: {said}") from None
    for where, message in problems(registry):
        raise CourseError(f"{REGISTRY}: {where}: {message}")
    return registry


_KINDS: dict[str, type[msgspec.Struct]] = {
    "": Registry,
    "weeks": Week,
    "exercises": Exercise,
    "questions": Question,
    "limits": Limits,
    "late": Late,
    "extensions": Extension,
    "nbgrader": Nbgrader,
    "scoring": Scoring,
    "suspects": Suspects,
    "immediate": Immediate,
}


def _fields(where: str) -> tuple[str, ...]:
    """The names that may stand at a place of the registry."""
    last = re.sub(r"\[\d+\]", "", where).rpartition(".")[2]
    return _KINDS[last].__struct_fields__ if last in _KINDS else ()


def _choices(where: str) -> tuple[str, ...]:
    """The words that may stand at a place of the registry, if it takes some of a few."""
    above, _, name = re.sub(r"\[\d+\]", "", where).rpartition(".")
    kind = _KINDS.get(above.rpartition(".")[2])
    hints = get_type_hints(kind) if kind else {}
    return get_args(hints[name]) if get_origin(hints.get(name)) is Literal else ()
