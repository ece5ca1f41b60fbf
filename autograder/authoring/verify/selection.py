"""Parts of a week that can be verified separately: an exercise, a misconception, or one test."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ...model.course import Course, Week
from ...model.errors import BankError


class Selection(msgspec.Struct, frozen=True):
    """One exercise, or one misconception or test of it."""

    week: str
    exercise: str
    misconception: str = ""
    test: str = ""


def find_selections(course: Course, weeks: list[Week], name: str) -> list[Selection]:
    """Return every part of these weeks that `name` refers to.

    `test_rows` refers to the tests of that name in all exercises, `softmax::test_rows` and
    `test_softmax.py::test_rows` to one of them. Raise BankError with the closest names if there is
    no match.
    """
    known: dict[str, list[Selection]] = {}
    for week in weeks:
        for key, selection in _named(course, week):
            known.setdefault(key, []).append(selection)
    wanted = name.removesuffix(".py").partition("[")[0].replace(".py::", "::")
    if "::" in wanted:
        wanted = wanted.rpartition("/")[2].removeprefix("test_")
    if found := known.get(wanted):
        return found
    close = difflib.get_close_matches(wanted, known, n=3, cutoff=0.5)
    guess = f"; did you mean {' or '.join(close)}?" if close else ""
    where = weeks[0].name if len(weeks) == 1 else "the course"
    raise BankError(f"{where} has no exercise, misconception or test {name!r}{guess}")


def _named(course: Course, week: Week) -> Iterator[tuple[str, Selection]]:
    for exercise in week.exercises:
        yield exercise.name, Selection(week.name, exercise.name)
        for test in _tests(course, week, exercise.name):
            selection = Selection(week.name, exercise.name, test=test)
            yield test, selection
            yield f"{exercise.name}::{test}", selection
    folder = course.solution_folder(week) / "misconceptions"
    for path in sorted(folder.glob("*.py")):
        yield path.stem, Selection(week.name, _exercise_of(path), path.stem)


def _exercise_of(path: Path) -> str:
    lines = (line.strip() for line in path.read_text("utf-8").split("\n"))
    return next((s[9:].strip() for s in lines if s.startswith("Exercise:")), "")


def _tests(course: Course, week: Week, exercise: str) -> list[str]:
    try:
        text = (course.graders(week) / f"test_{exercise}.py").read_text("utf-8")
        tree = ast.parse(text)
    except (OSError, SyntaxError, ValueError):
        return []  # collecting the tests reports the problem
    return [
        n.name for n in tree.body if isinstance(n, ast.FunctionDef) and n.name.startswith("test")
    ]
