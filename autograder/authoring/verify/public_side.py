"""Proving what students get: public checks, hints, the README, a place in the lesson for each part.

The public checks run as they do for a student (`check`). They must pass on the solution and on
every alternative, and none of them on the stub; each exercise has one at least.
"""

from __future__ import annotations

import ast
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ...model.course.bank import Bank
from ...model.course.loader import REGISTRY, Course, Week
from ...model.course.stubs import stub_of
from ...model.errors import BuildError, KitError
from ...student.checks.launcher import WarmPython
from ...student.checks.results import CheckOutcome, ExerciseResult
from ...student.commands.check import Checked, check_week
from ...student.folder.week import DESCRIPTION, WeekFolder, describe_week, open_folder
from ...student.show.hints import parse_hints
from ...student.show.wording import cause
from .proof import Verification

_ROW = re.compile(r"\| `(?P<name>\w+)` \| (?P<points>\d+(\.\d+)?) \|")
_SECONDS = 60.0  # for one check: what students wait for is shorter


def verify_public(course: Course, week: Week, exercise: str = "") -> Verification:
    """The public side of a week, or of one exercise."""
    result = Verification(week.name)
    result.gaps += _hints(course, week, exercise)
    if not exercise:
        result.gaps += _texts(course, week)
    names = [e.name for e in week.exercises if exercise in ("", e.name)]
    checks = course.exercise_folder(week) / f"test_{week.stem}.py"
    if not checks.is_file():
        result.gaps.append(f"{checks.relative_to(course.root)} is missing: public checks")
        return result
    with tempfile.TemporaryDirectory(prefix="autograder-public-") as place:
        folder = _released(course, week, Path(place) / week.name)
        result.gaps += _strays(folder)
        warm = WarmPython(folder)
        try:
            result.gaps += _checked(course, week, folder, names, warm, result)
        except KitError as error:
            result.gaps.append(f"{checks.relative_to(course.root)}: {error}")
        finally:
            warm.close()
    return result


def _released(course: Course, week: Week, path: Path) -> WeekFolder:
    """What the checks need of a released folder."""
    path.mkdir()
    (path / DESCRIPTION).write_bytes(describe_week(course, week))
    (path / week.module).write_text(stub_of(course, week), encoding="utf-8")
    checks = f"test_{week.stem}.py"
    (path / checks).write_bytes((course.exercise_folder(week) / checks).read_bytes())
    for name in week.files:
        (path / name).write_bytes((course.root / "assets" / name).read_bytes())
    return open_folder(path)


def _hints(course: Course, week: Week, only: str) -> Iterator[str]:
    """A hint for each exercise, or for `only` one, and none for what is no exercise."""
    path = course.exercise_folder(week) / "hints.md"
    try:
        hints = parse_hints(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        yield f"{path.relative_to(course.root)} is missing"
        return
    names = [e.name for e in week.exercises]
    yield from (
        f"{n} has no hint in hints.md" for n in names if not hints.get(n) and only in ("", n)
    )
    for name in hints.keys() - {*names}:
        yield f"hints.md has hints for {name}, which is no exercise"


def _texts(course: Course, week: Week) -> Iterator[str]:
    """README and the lesson's places."""
    from ..lesson.lesson_notebook import (
        lesson_notebook,  # what reads notebooks takes seconds to import
    )

    folder = course.exercise_folder(week)
    if not (folder / "README.md").is_file():
        yield f"{(folder / 'README.md').relative_to(course.root)} is missing"
    else:
        yield from _other_points(course, week, folder / "README.md")
    try:
        lesson_notebook(course, week)
    except BuildError as error:
        yield str(error)


def _other_points(course: Course, week: Week, readme: Path) -> Iterator[str]:
    """Points in the README's table that are not those of course.yaml."""
    points = {e.name: e.points for e in week.exercises}
    for number, line in enumerate(readme.read_text(encoding="utf-8").split("\n"), start=1):
        row = _ROW.match(line)
        if row and row["name"] in points and float(row["points"]) != points[row["name"]]:
            where = f"{readme.relative_to(course.root)}:{number}"
            told, meant = row["points"], f"{points[row['name']]:g}"
            yield f"{where}: {row['name']} has {told} points here, and {meant} in {REGISTRY}"


def _strays(folder: WeekFolder) -> Iterator[str]:
    """Checks that belong to no exercise are never run by `check`."""
    try:
        tree = ast.parse(folder.checks.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError) as error:
        yield f"{folder.checks.name} is no Python: {error}"
        return
    for node in tree.body:
        test = node.name if isinstance(node, ast.FunctionDef) else ""
        if test.startswith("test") and not folder.exercise_of(test):
            yield f"{folder.checks.name}: {test} belongs to no exercise by its name"


def _checked(
    course: Course,
    week: Week,
    folder: WeekFolder,
    names: list[str],
    warm: WarmPython,
    result: Verification,
) -> Iterator[str]:
    def check(source: str) -> Checked:
        folder.module.write_text(source, encoding="utf-8")
        return check_week(folder, names, seconds=_SECONDS, warm=warm)

    for exercise in check(stub_of(course, week)).exercises:
        for outcome in exercise.outcomes:
            if not outcome.failure and not outcome.skipped:
                yield f"the stub passes the public check {outcome.test}"
    bank = Bank(course, week)
    right = [("the solution", bank.solution)]
    right += [(f"alternative {a.name}", a.source) for a in bank.alternatives]
    said = set[str]()  # a check that the solution fails is wrong itself: once is enough
    for who, source in right:
        found = check(source)
        if found.broken:
            yield f"{who}: {found.broken.message}"
        for exercise in found.exercises:
            result.not_run |= {o.test for o in exercise.outcomes if o.skipped}
            if who == "the solution" and not exercise.outcomes:
                yield f"{exercise.name} has no public check: test_{exercise.name}_..."
            else:
                yield from _failures(who, exercise, week.module, said)


def _failures(who: str, exercise: ExerciseResult, module: str, said: set[str]) -> Iterator[str]:
    outcomes: tuple[CheckOutcome, ...] = exercise.outcomes
    if exercise.first and exercise.first.failure and not exercise.first.test:
        outcomes = (exercise.first,)  # what is not allowed
    for outcome in outcomes:
        test = outcome.test or exercise.name
        if outcome.failure and test not in said:
            if who == "the solution":
                said.add(test)
            why = cause(outcome.failure, exercise.name, module)
            yield f"{who} fails the public check {test}: {why}"
