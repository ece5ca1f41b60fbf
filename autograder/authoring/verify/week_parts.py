"""Select parts of a week to verify, and represent the results of verification."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Self

import msgspec

from ...model.course import Course, Week
from ...model.course.bank import Bank
from ...model.errors import CourseError
from ...model.message_text import close_names


class Selection(msgspec.Struct, frozen=True):
    """An exercise to verify, or one of its misconceptions."""

    week: str
    exercise: str
    misconception: str = ""


def find_selections(course: Course, weeks: list[Week], name: str) -> list[Selection]:
    """Return every part of these weeks that `name` refers to.

    The name of a test refers to its exercise. `test_rows` selects every exercise with a test of
    that name; `mean::test_rows` and `test_mean.py::test_rows` select only `mean`. Raise
    CourseError with the closest names if there is no match.
    """
    wanted = name.removesuffix(".py").partition("[")[0].replace(".py::", "::")
    if "::" in wanted:
        wanted = wanted.rpartition("/")[2].removeprefix("test_")
    known = [pair for week in weeks for pair in _named(course, week)]
    if found := [selection for key, selection in known if key == wanted]:
        return list(dict.fromkeys(found))
    guess = close_names(wanted, dict(known))
    where = weeks[0].name if len(weeks) == 1 else "the course"
    raise CourseError(f"{where} has no exercise, misconception or test {name!r}{guess}")


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


class Row(msgspec.Struct, frozen=True):
    """The tests that reject a misconception, and the diagnoses that it receives."""

    name: str
    exercise: str
    rejected_by: tuple[str, ...]
    diagnosed_as: tuple[str, ...]


class Verification(msgspec.Struct):
    """The result for a week or a part of it; `gaps` is empty if verification succeeded.

    not_run: tests that this machine cannot run
    lacking: optional libraries that are not installed, so exercises that need them are skipped
    """

    week: str
    alternatives: int = 0
    tests: int = 0
    rows: list[Row] = []
    gaps: list[str] = []
    not_run: set[str] = set()
    lacking: tuple[str, ...] = ()

    def add(self, part: Self) -> None:
        """Merge the result of another part into this one. Parts may report the same gap."""
        self.alternatives = max(self.alternatives, part.alternatives)
        self.tests += part.tests
        self.rows += part.rows
        self.gaps = list(dict.fromkeys([*self.gaps, *part.gaps]))
        self.not_run |= part.not_run
        self.lacking = tuple(sorted({*self.lacking, *part.lacking}))


def combine_draws(results: Sequence[Verification]) -> Verification:
    """Combine the results of one week for several draws of the hidden inputs, in order.

    The rows are those of the first draw. A gap that appears in only some draws is reported with
    the number of draws, because a test then passes or fails by chance.
    """
    first, draws = results[0], len(results)
    gaps = Counter(gap for result in results for gap in dict.fromkeys(result.gaps))
    not_run = set[str]().union(*(r.not_run for r in results))
    combined = msgspec.structs.replace(first, gaps=[], not_run=not_run)
    for gap, times in gaps.items():
        number = next(n for n, r in enumerate(results, start=1) if gap in r.gaps)
        some = f" (in {times} of {draws} draws, first in draw {number})"
        combined.gaps.append(gap if times == draws else gap + some)
    return combined
