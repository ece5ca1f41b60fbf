"""What of a proof is asked for: `verify --only` names an exercise, a misconception or a test."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator

import msgspec

from ..model.course import Course, Week
from ..model.errors import BankError


class Aim(msgspec.Struct, frozen=True):
    """One exercise; with a name, one misconception or one test of it."""

    week: str
    exercise: str
    misconception: str = ""
    test: str = ""


def aims(course: Course, weeks: list[Week], name: str) -> list[Aim]:
    """What `name` means in these weeks; raises BankError with the nearest names if nothing.

    A test that several exercises have is meant in all of them; `softmax::test_rows` and
    `test_softmax.py::test_rows` mean one.
    """
    known: dict[str, list[Aim]] = {}
    for week in weeks:
        for key, aim in _named(course, week):
            known.setdefault(key, []).append(aim)
    wanted = name.removesuffix(".py").partition("[")[0].replace(".py::", "::")
    if "::" in wanted:
        wanted = wanted.rpartition("/")[2].removeprefix("test_")
    if found := known.get(wanted):
        return found
    near = difflib.get_close_matches(wanted, known, n=3, cutoff=0.5)
    guess = f"; did you mean {' or '.join(near)}?" if near else ""
    where = weeks[0].name if len(weeks) == 1 else "the course"
    raise BankError(f"{where} has no exercise, misconception or test {name!r}{guess}")


def _named(course: Course, week: Week) -> Iterator[tuple[str, Aim]]:
    for e in week.exercises:
        yield e.name, Aim(week.name, e.name)
        for test in _tests(course, week, e.name):
            aim = Aim(week.name, e.name, test=test)
            yield test, aim
            yield f"{e.name}::{test}", aim
    folder = course.solution_folder(week) / "misconceptions"
    for path in sorted(folder.glob("*.py")):
        yield path.stem, Aim(week.name, _exercise_of(path.read_text("utf-8")), path.stem)


def _exercise_of(text: str) -> str:
    lines = (line.strip() for line in text.split("\n"))
    return next((s[9:].strip() for s in lines if s.startswith("Exercise:")), "")


def _tests(course: Course, week: Week, exercise: str) -> list[str]:
    try:
        text = (course.graders(week) / f"test_{exercise}.py").read_text("utf-8")
        tree = ast.parse(text)
    except (OSError, SyntaxError, ValueError):
        return []  # whoever collects it says what is wrong
    return [
        n.name for n in tree.body if isinstance(n, ast.FunctionDef) and n.name.startswith("test")
    ]
