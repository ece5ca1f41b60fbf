"""Read course.yaml into the types of `registry` and validate it.

A mistake is reported in one line with the path to the value, for example
`course.yaml: weeks[0].exercises[1].points: must be 0 or more, but is -1`.
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from ..errors import CourseError, NoCourse
from .folder_checks import folder_problems
from .registry import Course, Registry
from .validation import problems, with_fix
from .yaml_text import REGISTRY, read_yaml

__all__ = ["find_root", "load", "parse"]


def find_root(start: Path | None = None) -> Path:
    """Return the closest folder at or above `start` that contains course.yaml; raise NoCourse."""
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        with contextlib.suppress(OSError):  # a folder without read permission is not the course
            if (folder / REGISTRY).is_file():
                return folder
    raise NoCourse(
        f"there is no {REGISTRY} in {start} or a folder above it: `cd` to the course's project "
        "folder and try again"
    )


def load(root: Path | None = None, *, unfinished: bool = False) -> Course:
    """Read and validate the course at `root` (default: the one around the current folder).

    Modules, graders and other files that course.yaml names must exist; if `unfinished`, only the
    folders must. Raise CourseError for the first mistake.
    """
    root = root.resolve() if root else find_root()
    path = root / REGISTRY
    try:
        registry = parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CourseError(f"{path} does not exist") from None
    except UnicodeDecodeError as error:
        raise CourseError(f"{REGISTRY}: not UTF-8 text: {error}") from None
    course = Course(root, registry)
    for location, message in folder_problems(course, unfinished=unfinished):
        raise CourseError(f"{REGISTRY}: {location}: {message}")
    return course


def parse(text: str) -> Registry:
    """Return the registry in a YAML text; raise CourseError for the first mistake."""
    raw = read_yaml(text)
    try:
        registry = msgspec.convert(raw, Registry, strict=True)
    except msgspec.ValidationError as error:
        message, _, location = str(error).partition("$")
        location = location.rstrip("`").lstrip(".")
        wanted = _type_at(location)
        text = "a number is written where a name belongs: write half a point as 0.5"
        if "`key`" not in message:
            choices = get_args(wanted) if get_origin(wanted) is Literal else ()
            fields = getattr(wanted, "__struct_fields__", ())
            text = with_fix(message.partition(" - at ")[0], fields, choices)
        raise CourseError(f"{REGISTRY}: {location or 'top level'}: {text}") from None
    for location, message in problems(registry):
        raise CourseError(f"{REGISTRY}: {location}: {message}")
    return registry


def _type_at(location: str) -> Any:
    """Return the type that the registry has at a path such as `weeks[0].exercises[1]`."""
    found: Any = Registry
    for name in re.findall(r"\w+", re.sub(r"\[\d+\]", "", location)):
        hint = get_type_hints(found).get(name)
        structs = (t for t in (hint, *get_args(hint)) if isinstance(t, type))
        found = next((t for t in structs if issubclass(t, msgspec.Struct)), hint)
    return found
