"""What course.yaml names and the project's folders must hold: modules, exercises, graders, files.

A wrong name here is not seen until a whole class was graded for it, so it is looked for whenever
the registry is read. Nothing is imported or run: the sources are searched as text.
"""

from __future__ import annotations

import difflib
import importlib.util
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from ..extras import EXTRAS
from .registry import Course, Week

Problem = tuple[str, str]  # path to the value, message
_DEFINED = re.compile(
    r"^(?:(?:async\s+)?def|class)\s+(\w+)|^([A-Za-z_]\w*)\s*(?::[^=\n]+)?=", re.MULTILINE
)
_CHECKED = re.compile(r"""^check\(\s*["']([^"']+)["']\s*\)""", re.MULTILINE)
_ANSWERED = re.compile(r"^<!--\s*answer:\s*(\S+)\s*-->", re.MULTILINE)


def folder_problems(course: Course, *, unfinished: bool) -> Iterator[Problem]:
    """Every name in the registry that leads to nothing, worst first within its week.

    An `unfinished` course, which its author is still writing, needs only its folders.
    """
    for number, week in enumerate(course.weeks):
        where = f"weeks[{number}]"
        missing = list(_missing_folders(course, week))
        yield from ((f"{where}.name", message) for message in missing)
        if not missing and not unfinished:
            yield from _module_problems(course, week, where)
            yield from _grader_problems(course, week, where)
            yield from _lesson_problems(course, week, where)
            yield from _handed_out_problems(course, week, where)
            yield from _extra_problems(week, where)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name."""
    known = sorted(known)
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if close:
        return f": did you mean {close[0]!r}?"
    return f"; there are {', '.join(known)}" if known else "; there is none"


def _missing_folders(course: Course, week: Week) -> Iterator[str]:
    needed = [course.exercise_folder(week)]
    if (course.root / "solutions").is_dir():  # an instructor's checkout
        needed.append(course.solution_folder(week))
    for folder in needed:
        if not folder.is_dir():
            shown = folder.relative_to(course.root)
            others = [p.name for p in folder.parent.glob("week*") if p.is_dir()]
            close = difflib.get_close_matches(folder.name, others, n=1)
            meant = f" (did you mean {close[0]!r}?)" if close else ""
            yield f"the folder {shown} is missing: make it, or mend the name{meant}"


def _module_problems(course: Course, week: Week, where: str) -> Iterator[Problem]:
    folder = course.solution_folder(week)
    if not folder.is_dir():
        folder = course.exercise_folder(week)
    module = folder / week.module
    shown = module.relative_to(course.root)
    if not module.is_file():
        modules = [p.name for p in folder.glob("*.py") if not p.name.startswith("test_")]
        yield f"{where}.module", f"there is no {shown}{did_you_mean(week.module, modules)}"
        return
    defined = {a or b for a, b in _DEFINED.findall(_text(module))}
    for number, exercise in enumerate(week.exercises):
        if exercise.name not in defined:
            public = [n for n in defined if not n.startswith("_")]
            free = [n for n in public if n not in {e.name for e in week.exercises}]
            meant = did_you_mean(exercise.name, free or public)
            yield (
                f"{where}.exercises[{number}].name",
                f"{shown} defines no {exercise.name!r}{meant}",
            )


def _grader_problems(course: Course, week: Week, where: str) -> Iterator[Problem]:
    if not (course.root / "solutions").is_dir():
        return
    folder = course.graders(week)
    there = {p.stem.removeprefix("test_") for p in folder.glob("test_*.py")}
    names = {e.name for e in week.exercises}
    for number, exercise in enumerate(week.exercises):
        if exercise.name not in there:
            shown = (folder / f"test_{exercise.name}.py").relative_to(course.root)
            yield (
                f"{where}.exercises[{number}].name",
                f"{exercise.name!r} has no grader: write {shown}, or mend the name",
            )
    for name in sorted(there - names):
        shown = (folder / f"test_{name}.py").relative_to(course.root)
        yield (
            f"{where}.exercises",
            f"{shown} grades {name!r}, which is not among them: add it, or remove the file",
        )


def _lesson_problems(course: Course, week: Week, where: str) -> Iterator[Problem]:
    lesson = course.exercise_folder(week) / "lesson.md"
    if not lesson.is_file():
        return  # `release` and `verify` ask for it
    text, shown = _text(lesson), lesson.relative_to(course.root)
    checked, answered = set(_CHECKED.findall(text)), set(_ANSWERED.findall(text))
    for number, exercise in enumerate(week.exercises):
        if exercise.name not in checked:
            place = f'check("{exercise.name}")'
            yield f"{where}.exercises[{number}].name", f"{shown} has no cell `{place}`: add it"
    for number, question in enumerate(week.questions):
        if question.name not in answered:
            known = answered - {q.name for q in week.questions}
            yield (
                f"{where}.questions[{number}].name",
                f"{shown} has no line `<!-- answer: {question.name} -->`"
                f"{did_you_mean(question.name, known) if known else ': add it'}",
            )


def _handed_out_problems(course: Course, week: Week, where: str) -> Iterator[Problem]:
    assets, exercises = course.root / "assets", course.root / "exercises"
    for number, name in enumerate(week.files):
        if not (assets / name).is_file():
            known = [p.name for p in assets.glob("*") if p.is_file()]
            yield (
                f"{where}.files[{number}]",
                f"there is no assets/{name}{did_you_mean(name, known)}",
            )
    for number, name in enumerate(week.folders):
        if not (exercises / name).is_dir():
            known = [p.name for p in exercises.glob("*") if p.is_dir()]
            yield (
                f"{where}.folders[{number}]",
                f"there is no folder exercises/{name}{did_you_mean(name, known)}",
            )


def _extra_problems(week: Week, where: str) -> Iterator[Problem]:
    for number, exercise in enumerate(week.exercises):
        extra = exercise.extra
        if extra is not None and extra not in EXTRAS and not _importable(extra):
            yield (
                f"{where}.exercises[{number}].extra",
                f"{extra!r} is no extra of pyproject.toml, and no library that is installed"
                f"{did_you_mean(extra, EXTRAS)}",
            )


def _importable(name: str) -> bool:
    return name.isidentifier() and importlib.util.find_spec(name) is not None


def _text(path: Path) -> str:
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _read(path: Path, changed: int) -> str:
    """A file's text, read once while it stays as it is: a course is loaded for each student."""
    return path.read_text(encoding="utf-8", errors="replace")
