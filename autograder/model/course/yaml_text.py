"""Parse course.yaml into plain data and reject YAML that is legal but not what its author meant.

YAML uses the last of two equal keys, reads `no` as false, and fails with a traceback on 30
February. Here duplicate keys are errors, and `moment` parses dates.
"""

from __future__ import annotations

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
    r"(?:[Tt]|\s+)(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*(Z|[+-](?:0\d|1[0-4])(?::?[0-5]\d)?)?"
)
_EXAMPLE = "2027-01-18T23:59:00"
# Messages of PyYAML (patterns), and their usual cause.
_FIXES = {
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


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # mypy cannot check a dynamic base class
    """A YAML loader that leaves dates as strings."""


_Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda loader, node: node.value)


def read_yaml(text: str) -> object:
    """Return plain data with parsed dates; raise CourseError for a mistake."""
    try:
        node = yaml.compose(text, Loader=_Loader)
        if node is not None:
            for location, message in _duplicate_keys(node, ""):
                raise CourseError(f"{REGISTRY}: {location or 'top level'}: {message}")
        raw = yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise CourseError(_message(text, error)) from None
    except (ValueError, RecursionError) as error:
        raise CourseError(f"{REGISTRY}: not valid YAML: {error}") from None
    if raw is None:
        raise CourseError(f"{REGISTRY}: top level: the file is empty")
    return _with_moments(raw, "")


def _message(text: str, error: yaml.YAMLError) -> str:
    """Describe a YAML error; the pure Python parser gives better messages than libyaml."""
    try:
        yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as better:
        error = better
    mark = getattr(error, "problem_mark", None)
    place = f" line {mark.line + 1}, column {mark.column + 1}:" if mark else ""
    problem = getattr(error, "problem", None) or "not valid YAML"
    about = f"{getattr(error, 'context', None) or ''} {problem}"
    fix = next((fix for pattern, fix in _FIXES.items() if re.search(pattern, about)), "")
    return f"{REGISTRY}:{place} {problem}" + (f": {fix}" if fix else "")


def _duplicate_keys(node: yaml.Node, location: str) -> Iterator[tuple[str, str]]:
    """Yield the path and a message for every key that appears twice in one mapping."""
    if isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            yield from _duplicate_keys(item, f"{location}[{number}]")
    elif isinstance(node, yaml.MappingNode):
        lines: dict[str, int] = {}
        for key, value in node.value:
            name, line = str(key.value), key.start_mark.line + 1
            if name in lines:
                yield location, f"`{name}` appears twice (lines {lines[name]} and {line}): keep one"
            lines[name] = line
            yield from _duplicate_keys(value, f"{location}.{name}" if location else name)


def _with_moments(raw: Any, location: str) -> Any:
    if isinstance(raw, dict):
        return {
            key: _with_moments(value, f"{location}.{key}" if location else str(key))
            for key, value in raw.items()
        }
    if isinstance(raw, list):
        return [_with_moments(value, f"{location}[{number}]") for number, value in enumerate(raw)]
    if _DATES.fullmatch(location):
        try:
            return moment(raw)
        except ValueError as error:
            raise CourseError(f"{REGISTRY}: {location}: {error}") from None
    return raw


def moment(raw: object) -> dt.datetime:
    """Parse a date of the registry; 24:00 is midnight at the end of the day.

    Raise ValueError with the problem and an example.
    """
    if raw is None:
        raise ValueError(f"has no value: write a date such as {_EXAMPLE}")
    found = _MOMENT.fullmatch(raw.strip()) if isinstance(raw, str) else None
    if found is None:
        raise ValueError(f"{raw!r} is not a date with a time: write it as {_EXAMPLE}")
    year, month, day, hour, minute, second, zone = found.groups("")
    end_of_day = (hour, minute, second or "00") == ("24", "00", "00")
    time = f"{'00' if end_of_day else hour.zfill(2)}:{minute}:{second or '00'}{zone}"
    try:
        start = dt.datetime.fromisoformat(f"{year}-{month.zfill(2)}-{day.zfill(2)}T{time}")
    except ValueError as error:
        raise ValueError(f"{raw!r}: {error}: write the date as {_EXAMPLE}") from None
    return start + dt.timedelta(days=end_of_day)
