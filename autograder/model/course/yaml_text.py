"""Parse course.yaml into plain data and reject legal YAML that its author did not mean.

YAML uses the last of two equal keys and fails with a traceback on 30 February. Here duplicate keys
are errors, and `moment` parses dates.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import yaml

from ..errors import CourseError

REGISTRY = "course.yaml"
_DATE = "tag:yaml.org,2002:timestamp"
_MOMENT = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})"
    r"(?:[Tt]|\s+)(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*(Z|[+-](?:0\d|1[0-4])(?::?[0-5]\d)?)?"
)
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
    """A YAML loader that rejects duplicate keys and leaves invalid dates as strings."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        lines: dict[str, int] = {}
        for key, _ in node.value:
            name, line = str(key.value), key.start_mark.line + 1
            if name in lines:
                problem = f"`{name}` appears twice (lines {lines[name]} and {line}): keep one"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            lines[name] = line
        read: dict[Any, Any] = super().construct_mapping(node, deep)
        return read


def _date(loader: _Loader, node: yaml.ScalarNode) -> dt.datetime | str:
    try:
        return moment(node.value)
    except ValueError:
        return str(node.value)


_Loader.add_implicit_resolver(_DATE, _MOMENT, list("0123456789"))
_Loader.add_constructor(_DATE, _date)


def read_yaml(text: str) -> object:
    """Return plain data with parsed dates; raise CourseError for a mistake."""
    try:
        raw: object = yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise CourseError(_message(text, error)) from None
    except (ValueError, RecursionError) as error:
        raise CourseError(f"{REGISTRY}: not valid YAML: {error}") from None
    if raw is None:
        raise CourseError(f"{REGISTRY}: top level: the file is empty")
    return raw


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


def moment(text: str) -> dt.datetime:
    """Parse a date with a time, in which 24:00 is the end of the day; raise ValueError."""
    found = _MOMENT.fullmatch(text)
    if found is None:
        raise ValueError(text)
    *date, hour, minute, second, zone = found.groups("")
    end_of_day = (hour, minute, second or "00") == ("24", "00", "00")
    time = f"{'00' if end_of_day else hour.zfill(2)}:{minute}:{second or '00'}{zone}"
    start = dt.datetime.fromisoformat(f"{'-'.join(part.zfill(2) for part in date)}T{time}")
    return start + dt.timedelta(days=end_of_day)
