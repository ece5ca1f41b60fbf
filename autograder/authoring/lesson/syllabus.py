"""Read a week's syllabus from exercises/<week>/syllabus.yaml.

The syllabus contains prerequisites, objectives, readings and the time that each part takes. Grading
and dates are in course.yaml.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec

from ...model.course import Course, Week
from ...model.errors import BuildError

FILE = "syllabus.yaml"
Scale = Annotated[int, msgspec.Meta(ge=1, le=5)]
Minutes = Annotated[int, msgspec.Meta(gt=0)]
Text = Annotated[str, msgspec.Meta(min_length=1)]


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Effort(_Entry, frozen=True):
    """The effort for one exercise or question. Difficulty and weight range from 1 to 5."""

    minutes: tuple[Minutes, Minutes]  # estimated range
    difficulty: Scale
    weight: Scale  # how much later weeks build on this exercise or question


class Reading(_Entry, frozen=True):
    """A primary source and the sections that are relevant to the week."""

    by: Text
    title: Text
    sections: Text
    address: Text


class WeekSyllabus(_Entry, frozen=True):
    """The content of syllabus.yaml."""

    lesson_minutes: Minutes
    prerequisites: tuple[Text, ...]
    objectives: tuple[Text, ...]
    exercises: dict[str, Effort]
    readings: tuple[Reading, ...]
    origin: Text
    questions: dict[str, Effort] = {}


def syllabus_path(course: Course, week: Week) -> Path:
    return course.exercise_folder(week) / FILE


def read_syllabus(course: Course, week: Week) -> WeekSyllabus | None:
    """Return the week's syllabus, or None if there is no file; raise BuildError if it is wrong."""
    path = syllabus_path(course, week)
    if not path.is_file():
        return None
    shown = path.relative_to(course.root)
    try:
        read = msgspec.yaml.decode(path.read_bytes(), type=WeekSyllabus)
    except msgspec.MsgspecError as error:
        raise BuildError(f"{shown}: {' '.join(str(error).split())}") from None
    for kind, described, names in (
        ("exercise", read.exercises, {e.name for e in week.exercises}),
        ("question", read.questions, {q.name for q in week.questions}),
    ):
        if unknown := described.keys() - names:
            raise BuildError(f"{shown}: {week.name} has no {kind} {min(unknown)!r}")
        if missing := names - described.keys():
            raise BuildError(
                f"{shown}: the {kind} {min(missing)!r} is missing: add a line below `{kind}s:`, "
                f"such as `  {min(missing)}: {{minutes: [10, 20], difficulty: 2, weight: 2}}`"
            )
    for name, effort in {**read.exercises, **read.questions}.items():
        if effort.minutes[0] > effort.minutes[1]:
            raise BuildError(f"{shown}: {name}: write the smaller number of minutes first")
    return read


def syllabus_problems(course: Course, week: Week) -> Iterator[str]:
    """Yield the mistakes in a week's syllabus, for `verify`."""
    try:
        read_syllabus(course, week)
    except BuildError as error:
        yield str(error)


def total_minutes(week: Week, read: WeekSyllabus) -> tuple[int, int]:
    """Return the shortest and longest total time for all tasks and the electives that count."""
    totals = []
    for end in (0, 1):
        own = [read.exercises[e.name].minutes[end] for e in week.exercises if not e.elective]
        chosen = sorted(read.exercises[e.name].minutes[end] for e in week.exercises if e.elective)
        count = len(chosen) if week.electives_counted is None else week.electives_counted
        chosen = chosen[:count] if end == 0 else chosen[len(chosen) - count :]
        answers = [q.minutes[end] for q in read.questions.values()]
        totals.append(read.lesson_minutes + sum(own) + sum(chosen) + sum(answers))
    return totals[0], totals[1]


def rough_hours(minutes: tuple[int, int]) -> str:
    """Format a range of minutes as hours, rounded to half hours."""
    halves = [max(1, round(n / 30)) for n in minutes]
    numbers = (f"{n // 2 or ''}{'½' * (n % 2)}" for n in halves)
    return f"{' to '.join(numbers)} hour{'s' if halves[-1] > 2 else ''}"
