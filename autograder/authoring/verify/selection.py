"""Parts of a week that can be verified separately: an exercise, or one misconception."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

import msgspec

from ...model.course import Course, Week
from ...model.course.bank import Bank
from ...model.errors import BankError


class Selection(msgspec.Struct, frozen=True):
    """One exercise, or one misconception of it."""

    week: str
    exercise: str
    misconception: str = ""


def find_selections(course: Course, weeks: list[Week], name: str) -> list[Selection]:
    """Return every part of these weeks that `name` refers to.

    The name of a test refers to its exercise: `test_rows` to every exercise with a test of that
    name, `softmax::test_rows` and `test_softmax.py::test_rows` to one. Raise BankError with the
    closest names if there is no match.
    """
    wanted = name.removesuffix(".py").partition("[")[0].replace(".py::", "::")
    if "::" in wanted:
        wanted = wanted.rpartition("/")[2].removeprefix("test_")
    known = [pair for week in weeks for pair in _named(course, week)]
    if found := [selection for key, selection in known if key == wanted]:
        return list(dict.fromkeys(found))
    close = difflib.get_close_matches(wanted, dict(known), n=3, cutoff=0.5)
    guess = f"; did you mean {' or '.join(close)}?" if close else ""
    where = weeks[0].name if len(weeks) == 1 else "the course"
    raise BankError(f"{where} has no exercise, misconception or test {name!r}{guess}")


def _named(course: Course, week: Week) -> Iterator[tuple[str, Selection]]:
    for exercise in week.exercises:
        selection = Selection(week.name, exercise.name)
        yield exercise.name, selection
        for test in _tests(course, week, exercise.name):
            yield test, selection
            yield f"{exercise.name}::{test}", selection
    for m in Bank(course, week).misconceptions:
        yield m.name, Selection(week.name, m.exercise, m.name)


def _tests(course: Course, week: Week, exercise: str) -> list[str]:
    path = course.graders(week) / f"test_{exercise}.py"
    text = path.read_text("utf-8") if path.is_file() else ""
    return re.findall(r"^def (test\w*)", text, flags=re.MULTILINE)
