"""Edit course.yaml as text, so that its comments and layout are preserved."""

from __future__ import annotations

import textwrap

import yaml

from ...model.course import REGISTRY, parse
from ...model.errors import CourseError


def with_week(text: str, entry: str) -> str:
    """Return the text with `entry`, a list item without indentation, appended to its weeks.

    Raise CourseError if the result would change an existing week.
    """
    weeks = _weeks(text)
    lines = text.split("\n")
    end = _last_line(weeks) + 1
    while end < len(lines) and _comment_of_item(lines[end], weeks.start_mark.column):
        end += 1
    item = textwrap.indent(entry.strip("\n"), " " * weeks.start_mark.column).split("\n")
    grown = "\n".join([*lines[:end], "", *item, *lines[end:]])
    if not grown.endswith("\n"):
        grown += "\n"
    before, after = parse(text), parse(grown)
    if after.weeks[:-1] != before.weeks:
        raise CourseError(
            f"{REGISTRY}: the new week cannot be inserted automatically: add it by hand:\n{entry}"
        )
    return grown


def with_exercise(text: str, week: str, entry: str) -> str:
    """Return the text with `entry` appended to the exercises of a week.

    Raise CourseError if the result would change another exercise.
    """
    exercises = _exercises(text, week)
    lines, end = text.split("\n"), _last_line(exercises) + 1
    item = f"{' ' * exercises.start_mark.column}- {entry}"
    grown = "\n".join([*lines[:end], item, *lines[end:]])
    before, after = parse(text), parse(grown)
    pairs = zip(before.weeks, after.weeks, strict=True)
    if any(b.exercises != (a.exercises[:-1] if a.name == week else a.exercises) for b, a in pairs):
        raise CourseError(f"{REGISTRY}: {week}: add the exercise by hand: {entry}")
    return grown


def _exercises(text: str, name: str) -> yaml.SequenceNode:
    for week in _weeks(text).value:
        if isinstance(week, yaml.MappingNode):
            fields = {key.value: value for key, value in week.value}
            found = fields.get("exercises")
            if fields["name"].value == name and isinstance(found, yaml.SequenceNode):
                if found.flow_style:
                    break
                return found
    raise CourseError(f"{REGISTRY}: {name}: write its exercises as a list with a `-` for each")


def _weeks(text: str) -> yaml.SequenceNode:
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if isinstance(root, yaml.MappingNode):
        for key, value in root.value:
            if key.value == "weeks" and isinstance(value, yaml.SequenceNode):
                if value.flow_style:
                    break
                return value
    raise CourseError(f"{REGISTRY}: weeks: write them as a list with one `- name:` per week")


def _last_line(node: yaml.Node) -> int:
    """Return the line on which a node's content ends; PyYAML includes blank lines after a block."""
    if isinstance(node, yaml.ScalarNode):
        end = node.end_mark
        return int(
            end.line - 1 if end.column == 0 and end.line > node.start_mark.line else end.line
        )
    if not isinstance(node, yaml.CollectionNode) or node.flow_style or not node.value:
        return int(node.end_mark.line)
    last = node.value[-1]
    return _last_line(last[1] if isinstance(last, tuple) else last)


def _comment_of_item(line: str, column: int) -> bool:
    """Return True if a line after the last item is a comment that is indented below it."""
    stripped = line.lstrip(" ")
    return stripped.startswith("#") and len(line) - len(stripped) > column
