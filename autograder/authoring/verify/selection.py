"""What of a proof is asked for: `verify --only` names an exercise, a misconception or a test."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from ...model.course.loader import Course, Week
from ...model.errors import BankError


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
    for path in sorted(_misconceptions(course, week).glob("*.py")):
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


class Written:
    """What stands in the weeks' tests, so that a save tells what it changed."""

    def __init__(self, course: Course, weeks: list[Week]) -> None:
        self._course, self._weeks = course, weeks
        paths = [p for w in weeks for p in course.graders(w).glob("test_*.py")]
        self._stood = {path: _statements(path) for path in paths}

    def changed(self, paths: Iterable[Path]) -> tuple[Aim, ...]:
        """The tests and misconceptions that saves wrote anew; nothing if more may depend on them.

        More depends on what tests share, on a solution, on course.yaml.
        """
        found = [self._aims(path) for path in paths]
        return tuple(a for aims in found for a in aims) if all(found) else ()

    def _aims(self, path: Path) -> list[Aim]:
        for week in self._weeks:
            if path.parent == _misconceptions(self._course, week) and path.is_file():
                exercise = _exercise_of(path.read_text("utf-8"))
                known = exercise in {e.name for e in week.exercises}
                return [Aim(week.name, exercise, path.stem)] if known else []
            if path.parent == self._course.graders(week) and path.name.startswith("test_"):
                before, after = self._stood.get(path), _statements(path)
                self._stood[path] = after
                exercise = path.stem.removeprefix("test_")
                return [Aim(week.name, exercise, test=name) for name in _anew(before, after)]
        return []


def _misconceptions(course: Course, week: Week) -> Path:
    return course.solution_folder(week) / "misconceptions"


def _statements(path: Path) -> dict[str, str]:
    """A file's tests by name and, without one, all else; nothing where it cannot be read."""
    try:
        body = ast.parse(path.read_text("utf-8")).body
    except (OSError, SyntaxError, ValueError):
        return {}
    said: dict[str, str] = {"": ""}
    for node in body:
        name = node.name if isinstance(node, ast.FunctionDef) else ""
        name = name if name.startswith("test") else ""
        said[name] = said.get(name, "") + ast.dump(node)
    return said


def _anew(before: dict[str, str] | None, after: dict[str, str]) -> list[str]:
    """The tests that are not as they were, if nothing else has changed and none is gone."""
    if not before or not after or before[""] != after[""] or before.keys() - after.keys():
        return []
    return [name for name, text in after.items() if before.get(name) != text]
