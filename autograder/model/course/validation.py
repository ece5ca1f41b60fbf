"""What is wrong with a registry that its types cannot say, and how a mistake is mended."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from .folder_checks import Problem, did_you_mean
from .registry import Late, Limits, Nbgrader, Registry, Week, aware

_EXERCISE = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_WEEK = re.compile(r"week[0-9]{2}_[a-z0-9_]+\Z")
_SLUG = re.compile(r"[a-z][a-z0-9_-]*\Z")
_PROJECT = ("assets", "autograder", "benchmarks", "exercises", "solutions", "tests")


def problems(registry: Registry) -> Iterator[Problem]:
    """What the types cannot say, as (path to the value, message)."""
    if not _SLUG.match(registry.course):
        yield "course", f"{registry.course!r} must be lower-case letters, digits, - or _"
    try:
        ZoneInfo(registry.timezone)
    except (ZoneInfoNotFoundError, ValueError):
        yield "timezone", f"{registry.timezone!r} is no time zone such as Europe/Zurich"
        return
    if not registry.weeks:
        yield "weeks", "there must be at least one"
    if not registry.title.strip():
        yield "title", "is empty: it heads the students' feedback"
    yield from _duplicates("weeks", [w.name for w in registry.weeks])
    yield from _number_problems(registry.weeks)
    yield from _limit_problems("limits", registry.limits)
    for number, week in enumerate(registry.weeks):
        yield from _week_problems(f"weeks[{number}]", week)
    if registry.late:
        yield from _extension_problems(registry, registry.late)
    yield from _place_problems(registry.nbgrader)
    if registry.immediate.url:
        yield from _service_problems(registry.immediate.url)
    if registry.nbgrader.db_url:
        yield from _gradebook_problems(registry.nbgrader.db_url)


def _number_problems(weeks: Sequence[Week]) -> Iterator[Problem]:
    """`week01` names one week only."""
    seen: dict[str, str] = {}
    for number, week in enumerate(weeks):
        start = week.name[:6]
        if seen.setdefault(start, week.name) != week.name:
            yield f"weeks[{number}].name", f"{week.name!r} has the number of {seen[start]}"


def _limit_problems(where: str, limits: Limits) -> Iterator[Problem]:
    """A longer limit inside a shorter one never holds."""
    names = "call_seconds", "exercise_seconds", "submission_seconds"
    for inner, outer in itertools.pairwise(names):
        if getattr(limits, inner) > getattr(limits, outer):
            yield (
                f"{where}.{inner}",
                f"is {getattr(limits, inner):g}, more than {outer}, {getattr(limits, outer):g}",
            )


def _place_problems(nbgrader: Nbgrader) -> Iterator[Problem]:
    folder = Path(nbgrader.folder)
    if folder.is_absolute() or ".." in folder.parts or not folder.parts:
        yield "nbgrader.folder", f"{nbgrader.folder!r} must lie in the project, as nbgrader does"
    elif folder.parts[0] in _PROJECT:
        yield "nbgrader.folder", f"{folder.parts[0]} is the project's own: name another folder"


def _week_problems(where: str, week: Week) -> Iterator[Problem]:
    if not _WEEK.match(week.name):
        yield f"{where}.name", f"{week.name!r} must look like week01_topic"
    if not week.module.endswith(".py") or not _EXERCISE.match(week.stem):
        yield f"{where}.module", f"{week.module!r} must be a Python file such as softmax.py"
    if "" in week.not_allowed:
        yield f"{where}.not_allowed", "holds an empty pattern: remove it"
    if (week.due.tzinfo is None) != (week.release.tzinfo is None):
        yield f"{where}.due", "give both dates a time zone, or neither"
    elif week.due <= week.release:
        yield f"{where}.due", f"{week.due} is not after the release, {week.release}: move one"
    if not week.title.strip():
        yield f"{where}.title", "is empty: it heads the lesson's feedback"
    if not week.exercises:
        yield f"{where}.exercises", "there must be at least one"
    if week.limits:
        yield from _limit_problems(f"{where}.limits", week.limits)
    for place, names in (("files", week.files), ("folders", week.folders)):
        for number, name in enumerate(names):
            if not name or ".." in Path(name).parts or Path(name).is_absolute():
                yield (
                    f"{where}.{place}[{number}]",
                    f"{name!r} must lie in the folder it is taken from",
                )
    yield from _duplicates(f"{where}.exercises", [e.name for e in week.exercises])
    yield from _duplicates(f"{where}.questions", [q.name for q in week.questions])
    for number, exercise in enumerate(week.exercises):
        place = f"{where}.exercises[{number}]"
        if not _EXERCISE.match(exercise.name):
            yield f"{place}.name", f"{exercise.name!r} is no Python name"
        yield from _point_problems(place, exercise.points)
        for kind in ("not_allowed", "source_not_allowed"):
            if "" in getattr(exercise, kind):
                yield f"{place}.{kind}", "holds an empty pattern: remove it"
    for number, question in enumerate(week.questions):
        place = f"{where}.questions[{number}]"
        if not _SLUG.match(question.name):
            yield f"{place}.name", f"{question.name!r} must be lower-case letters, digits, - or _"
        if question.name in {e.name for e in week.exercises}:
            yield f"{place}.name", f"{question.name!r} is an exercise too: rename one"
        yield from _point_problems(place, question.points)
    electives = sum(e.elective for e in week.exercises)
    if week.electives_counted is not None and not 0 <= week.electives_counted <= electives:
        yield (
            f"{where}.electives_counted",
            f"is {week.electives_counted}, but the week has {electives} electives",
        )


def _point_problems(where: str, points: float) -> Iterator[Problem]:
    if not math.isfinite(points):
        yield f"{where}.points", f"{points} is no number of points"
    elif points < 0:
        yield f"{where}.points", f"must not be negative, but is {points:g}"


def _extension_problems(registry: Registry, late: Late) -> Iterator[Problem]:
    weeks, zone = {w.name: w for w in registry.weeks}, ZoneInfo(registry.timezone)
    seen: dict[tuple[str, str], int] = {}
    for number, extension in enumerate(late.extensions):
        where = f"late.extensions[{number}]"
        week = weeks.get(extension.week)
        first = seen.setdefault((extension.student, extension.week), number)
        if first != number:
            yield (
                where,
                f"{extension.student} has an extension of {extension.week} in [{first}] too",
            )
        if not extension.student.strip():
            yield f"{where}.student", "is empty: name the student as nbgrader does"
        if week is None:
            unknown = did_you_mean(extension.week, weeks)
            yield f"{where}.week", f"{extension.week!r} is no week of the course{unknown}"
        elif aware(extension.until, zone) <= aware(week.due, zone):
            yield (
                f"{where}.until",
                f"{extension.until} is not after {week.name} is due, {week.due}: mend it",
            )


def _gradebook_problems(url: str) -> Iterator[Problem]:
    """The messages quote nothing of the URL: it may hold a password."""
    where = "nbgrader.db_url"
    try:
        parts = urlsplit(url)
        secret = parts.password is not None or "password=" in parts.query.lower()
    except ValueError:
        yield where, "is no URL"
        return
    if parts.scheme not in ("sqlite", "postgresql", "postgresql+psycopg"):
        yield where, "must look like postgresql+psycopg://user@host/database"
    if secret:
        yield (
            where,
            "holds a password, and nbgrader shows its settings on its pages: leave it out here and "
            "give it in ~/.pgpass (host:port:database:user:password, mode 0600)",
        )


def _service_problems(url: str) -> Iterator[Problem]:
    where = "immediate.url"
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        fine = False
    if not fine:
        yield where, "must look like https://host/ or https://host/services/autograder/"
    elif parts.username is not None or parts.query or parts.fragment:
        yield where, "goes to every student: leave out names, passwords and what follows ? or #"


def _duplicates(where: str, names: list[str]) -> Iterator[Problem]:
    for number, name in enumerate(names):
        if name in names[:number]:
            first = names.index(name)
            yield f"{where}[{number}].name", f"{name!r} is already the name of {where}[{first}]"


def mended(message: str, is_key: bool, fields: Sequence[str], choices: Sequence[str] = ()) -> str:
    """msgspec's message with the mend; `fields` and `choices` may stand at its place."""
    if is_key:
        return "a number stands where a name belongs: half a point is 0.5, with a point"
    if bound := re.fullmatch(r"Expected `\w+` ([<>]=?) (\S+)", message):
        words = {"<=": "at most", ">=": "at least", "<": "less than", ">": "more than"}
        return f"must be {words[bound.group(1)]} {float(bound.group(2)):g}"
    return message[0].lower() + message[1:] + _mend(message, fields, choices)


def _mend(message: str, fields: Sequence[str], choices: Sequence[str]) -> str:
    if unknown := re.search(r"unknown field `([^`]*)`", message):
        return did_you_mean(unknown.group(1), fields)
    if missing := re.search(r"missing required field `([^`]*)`", message):
        return f": add `{missing.group(1)}:`"
    if choices and (message.startswith("Invalid enum value") or "got `bool`" in message):
        quoted = [f'"{c}"' if c in ("no", "yes", "on", "off") else c for c in choices]
        return f": write {', '.join(quoted[:-1])} or {quoted[-1]}"
    types = re.match(r"Expected `(\w+)[^`]*`, got `(\w+)`", message)
    if types is None:
        return ""
    expected, got = types.groups()
    if got == "null":
        return ": it has no value"
    if expected == "str":
        one = got in ("array", "object")
        return ": write one text, without brackets" if one else ": put it in quotes"
    return {
        "array": ": write a list, [in, brackets] or a line with - for each",
        "float": ": write a number, without quotes",
        "int": ": write a whole number, without quotes",
        "bool": ": write true or false",
        "object": ": indent `key: value` lines below it",
    }.get(expected, "")
