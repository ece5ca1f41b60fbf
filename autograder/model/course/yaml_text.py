"""course.yaml's text as plain data: what YAML lets pass and an instructor did not mean is said.

YAML takes the last of two equal keys, turns `no` into false, and reads dates in a way of its own
that ends in a traceback for 30 February. Here a key stands once, and dates are read by `moment`.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Iterator
from typing import Any

import yaml

from ..errors import CourseError

REGISTRY = "course.yaml"
_DATES = re.compile(r"weeks\[\d+\]\.(release|due)|late\.extensions\[\d+\]\.until")
_MOMENT = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})"
    r"(?:(?:[Tt]|\s+)(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?"
)
_EXAMPLE = "2027-01-18T23:59:00"
# What libyaml and PyYAML say, and what it mostly comes from.
_MENDS = {
    r"character '\\t'": "indent with spaces, not with a tab",
    "mapping values are not allowed": "a text with a colon needs quotes; or the indentation is off",
    "expected <block end>": "the indentation is off: compare it with the lines above",
    "could not find expected ':'": "a key needs a colon and a space after it",
    "expected ',' or": "a bracket is not closed, or a comma is missing",
    "unexpected end of the stream": "a bracket or a quote is not closed",
    "while scanning a quoted scalar": "a quote is not closed",
    "(undefined|while scanning an) alias": "a text that begins with * needs quotes; or a quote "
    "above it is not closed",
    "found unexpected ':'": "a key has no value, or no space after its colon",
}


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # a base that is looked up
    """Dates stay texts."""


_Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda loader, node: node.value)


def read_yaml(text: str) -> object:
    """Plain data, with datetimes where the registry has dates; raises CourseError."""
    try:
        node = yaml.compose(text, Loader=_Loader)
        if node is not None:
            for where, message in _doubled(node, ""):
                raise CourseError(f"{REGISTRY}: {where or 'top level'}: {message}")
        raw = yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise CourseError(_said(text, error)) from None
    except (ValueError, RecursionError) as error:
        raise CourseError(f"{REGISTRY}: not valid YAML: {error}") from None
    if raw is None:
        raise CourseError(f"{REGISTRY}: top level: the file is empty")
    return _with_moments(raw, "")


def _said(text: str, error: yaml.YAMLError) -> str:
    """PyYAML's own reader says better what is wrong with a text than libyaml."""
    try:
        yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as better:
        error = better
    mark = getattr(error, "problem_mark", None)
    place = f" line {mark.line + 1}, column {mark.column + 1}:" if mark else ""
    problem = getattr(error, "problem", None) or "not valid YAML"
    about = f"{getattr(error, 'context', None) or ''} {problem}"
    mend = next((mend for sign, mend in _MENDS.items() if re.search(sign, about)), "")
    return f"{REGISTRY}:{place} {problem}" + (f": {mend}" if mend else "")


def _doubled(node: yaml.Node, where: str) -> Iterator[tuple[str, str]]:
    """Keys that stand twice in one place."""
    if isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            yield from _doubled(item, f"{where}[{number}]")
    elif isinstance(node, yaml.MappingNode):
        lines: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            first = lines.setdefault(str(key.value), line)
            if first != line or (key, value) != node.value[_first(node, key)]:
                yield (
                    where,
                    f"`{key.value}` stands there twice, in lines {first} and {line}: keep one",
                )
            yield from _doubled(value, f"{where}.{key.value}" if where else str(key.value))


def _first(node: yaml.MappingNode, key: yaml.Node) -> int:
    return next(n for n, (k, _) in enumerate(node.value) if k.value == key.value)


def _with_moments(raw: Any, where: str) -> Any:
    if isinstance(raw, dict):
        return {
            key: _with_moments(value, f"{where}.{key}" if where else str(key))
            for key, value in raw.items()
        }
    if isinstance(raw, list):
        return [_with_moments(value, f"{where}[{number}]") for number, value in enumerate(raw)]
    if _DATES.fullmatch(where):
        try:
            return moment(raw)
        except ValueError as error:
            raise CourseError(f"{REGISTRY}: {where}: {error}") from None
    return raw


def moment(raw: object) -> dt.datetime:
    """A date of the registry; raises ValueError with what is wrong with it, and how it is written.

    24:00 is the midnight that ends the day.
    """
    if raw is None:
        raise ValueError(f"has no value: write a date such as {_EXAMPLE}")
    found = _MOMENT.fullmatch(raw.strip()) if isinstance(raw, str) else None
    if found is None:
        raise ValueError(f"{raw!r} is no date: write it as {_EXAMPLE}")
    year, month, day = (int(part) for part in found.group(1, 2, 3))
    if not 1 <= month <= 12:
        raise ValueError(f"{raw!r} has month {month}: write year-month-day, as {_EXAMPLE}")
    last = calendar.monthrange(year, month)[1] if year else 0
    if not 1 <= day <= last:
        name = f"{calendar.month_name[month]} {year}"
        raise ValueError(f"{raw!r} is no day of the calendar: {name} has {last} days")
    if found.group(4) is None:
        raise ValueError(f"{raw!r} has no time of day: write it as {_EXAMPLE}")
    hour, minute, second = (int(part or 0) for part in found.group(4, 5, 6))
    if not (hour < 24 and minute < 60 and second < 60) and (hour, minute, second) != (24, 0, 0):
        raise ValueError(f"{raw!r} has no such time of day: it goes from 00:00:00 to 24:00:00")
    start = dt.datetime(year, month, day, tzinfo=_zone(found.group(7)))
    return start + dt.timedelta(hours=hour, minutes=minute, seconds=second)


def _zone(text: str | None) -> dt.tzinfo | None:
    if text is None:
        return None
    if text == "Z":
        return dt.UTC
    digits = text[1:].replace(":", "").ljust(4, "0")
    hours, minutes = int(digits[:2]), int(digits[2:])
    if hours > 14 or minutes > 59:
        raise ValueError(f"{text!r} is no offset from UTC: write it as +01:00, or leave it out")
    offset = dt.timedelta(hours=hours, minutes=minutes)
    return dt.timezone(-offset if text[0] == "-" else offset)
