"""Check that the modules, exercises, graders and files that course.yaml names exist.

A wrong name would otherwise show only after a whole class has been graded for it. The
sources are searched as text, never imported or run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..extras import EXTRAS, installed
from ..spelling import did_you_mean
from .registry import Course, Week

Problem = tuple[str, str]  # path to the value, message
_DEFINED = re.compile(
    r"^(?:(?:async\s+)?def|class)\s+(\w+)|^([A-Za-z_]\w*)\s*(?::[^=\n]+)?=", re.MULTILINE
)


def folder_problems(course: Course, *, unfinished: bool) -> Iterator[Problem]:
    """Yield the names in the registry that do not exist; only folders if `unfinished`."""
    for number, week in enumerate(course.weeks):
        location = f"weeks[{number}]"
        missing = list(_missing_folders(course, week))
        yield from ((f"{location}.name", message) for message in missing)
        if not missing and not unfinished:
            yield from _module_problems(course, week, location)
            yield from _grader_problems(course, week, location)
            yield from _asset_problems(course, week, location)
            yield from _extra_problems(week, location)


def _missing_folders(course: Course, week: Week) -> Iterator[str]:
    needed = [course.exercise_folder(week)]
    if (course.root / "solutions").is_dir():  # students do not get the solutions
        needed.append(course.solution_folder(week))
    for folder in needed:
        if not folder.is_dir():
            others = [p.name for p in folder.parent.glob("week*") if p.is_dir()]
            shown, meant = folder.relative_to(course.root), did_you_mean(folder.name, others)
            yield f"the folder {shown} is missing{meant}"


def _module_problems(course: Course, week: Week, location: str) -> Iterator[Problem]:
    folder = course.solution_folder(week)
    if not folder.is_dir():
        folder = course.exercise_folder(week)
    module = folder / week.module
    shown = module.relative_to(course.root)
    if not module.is_file():
        modules = [p.name for p in folder.glob("*.py") if not p.name.startswith("test_")]
        yield f"{location}.module", f"{shown} does not exist{did_you_mean(week.module, modules)}"
        return
    text = module.read_text(encoding="utf-8", errors="replace")
    defined = {a or b for a, b in _DEFINED.findall(text)}
    public = {n for n in defined if not n.startswith("_")}
    unused = public - {e.name for e in week.exercises}
    for number, exercise in enumerate(week.exercises):
        if exercise.name not in defined:
            place = f"{location}.exercises[{number}].name"
            meant = did_you_mean(exercise.name, unused or public)
            yield place, f"{shown} does not define {exercise.name!r}{meant}"


def _grader_problems(course: Course, week: Week, location: str) -> Iterator[Problem]:
    if not (course.root / "solutions").is_dir():
        return
    folder = course.graders(week)
    existing = {p.stem.removeprefix("test_") for p in folder.glob("test_*.py")}
    names = {e.name for e in week.exercises}
    for number, exercise in enumerate(week.exercises):
        if exercise.name not in existing:
            place = f"{location}.exercises[{number}].name"
            shown = (folder / f"test_{exercise.name}.py").relative_to(course.root)
            yield place, f"{exercise.name!r} has no grader: write {shown}, or correct the name"
    for name in sorted(existing - names):
        shown = (folder / f"test_{name}.py").relative_to(course.root)
        message = f"{shown} grades {name!r}, which is not listed: add it, or remove the file"
        yield f"{location}.exercises", message


def _asset_problems(course: Course, week: Week, location: str) -> Iterator[Problem]:
    for setting, names, parent in (
        ("files", week.files, course.root / "assets"),
        ("folders", week.folders, course.root / "exercises"),
    ):
        there = [p.name for p in parent.glob("*") if p.is_dir() == (setting == "folders")]
        for number, name in enumerate(names):
            if not (parent / name).exists():
                message = f"{parent.name}/{name} does not exist{did_you_mean(name, there)}"
                yield f"{location}.{setting}[{number}]", message


def _extra_problems(week: Week, location: str) -> Iterator[Problem]:
    for number, exercise in enumerate(week.exercises):
        extra = exercise.extra
        if extra is None or extra in EXTRAS:
            continue
        if not extra.isidentifier() or not installed(extra):
            meant = did_you_mean(extra, EXTRAS)
            message = f"{extra!r} is neither an extra of pyproject.toml nor an installed library"
            yield f"{location}.exercises[{number}].extra", message + meant
