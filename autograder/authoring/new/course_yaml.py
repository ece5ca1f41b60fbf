"""Edit course.yaml as text, so that its comments and layout are preserved."""

from __future__ import annotations

import textwrap
from typing import Any  # PyYAML's nodes

import yaml

from ...model.course import REGISTRY, parse
from ...model.errors import CourseError


def with_week(text: str, entry: str) -> str:
    """Return the text with `entry`, a list item without indentation, appended to its weeks.

    Raise CourseError if the result would change an existing week.
    """
    grown = _inserted(text, _field(_root(text), "weeks", REGISTRY), f"\n{entry}")
    if parse(grown).weeks[:-1] != parse(text).weeks:
        raise CourseError(
            f"{REGISTRY}: the new week cannot be inserted automatically: add it by hand:\n{entry}"
        )
    return grown


def with_exercise(text: str, week: str, entry: str) -> str:
    """Return the text with `entry` appended to the exercises of a week.

    Raise CourseError if the result would change another exercise.
    """
    before = parse(text).weeks
    number = next(n for n, w in enumerate(before) if w.name == week)
    weeks = _field(_root(text), "weeks", REGISTRY)
    grown = _inserted(text, _field(weeks.value[number], "exercises", week), f"- {entry}")
    after = parse(grown).weeks
    expected = [w.exercises for w in before]
    expected[number] += after[number].exercises[-1:]
    if [w.exercises for w in after] != expected:
        raise CourseError(f"{REGISTRY}: {week}: add the exercise by hand: {entry}")
    return grown


def _root(text: str) -> Any:
    return yaml.compose(text, Loader=yaml.SafeLoader)


def _field(node: Any, name: str, location: str) -> Any:
    """Return the list below a key; raise CourseError unless each item has a line with a dash."""
    fields = {key.value: value for key, value in node.value}
    found = fields[name]
    if found.flow_style:
        raise CourseError(f"{location}: {name}: write them as a list with a `-` line for each")
    return found


def _inserted(text: str, items: Any, entry: str) -> str:
    """Return the text with an entry after the last item and the comments that belong to it."""
    lines, column = text.rstrip("\n").split("\n"), items.start_mark.column
    end = items.value[-1].start_mark.line + 1
    for number, line in enumerate(lines[end:], start=end):
        if line.strip() and not line[: column + 1].isspace():
            break
        if line.strip():
            end = number + 1
    added = textwrap.indent(entry.rstrip("\n"), " " * column).split("\n")
    return "\n".join([*lines[:end], *added, *lines[end:]]) + "\n"
