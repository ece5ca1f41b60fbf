"""Show the course on one page: a table of its weeks, and a map of what builds on what.

The map shows the weeks named in `prerequisites` of syllabus.yaml and, between exercises, the names
that an exercise's stub states. The solution's calls are secret until the week is due.
"""

import ast
import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from markupsafe import Markup

from ..authoring.lesson.syllabus import read_syllabus, rough_hours, total_minutes
from ..grading.dependencies.error_carried_forward import CallGraph, read_call_graph
from ..model.course import Course, Week
from ..model.course.stubs import stub_of
from ..model.source.statements import DEFINITIONS
from ..pages.environment import environment

_WEEK = re.compile(r"\bweek (\d+)")
_QUOTED = re.compile(r"`(\w+)[`(]")


class MapLine(NamedTuple):
    """A week (`exercise` is "") or an exercise. `uses`: indices of the lines that it builds on."""

    week: Week
    exercise: str
    uses: tuple[int, ...]


def course_overview(
    course: Course, weeks: Sequence[Week], address: str, due: Collection[Week] = ()
) -> Markup:
    """Return a table of the weeks, the map, and the map as text; omit all other weeks.

    address: the address of a week's page, with {} for the week's name
    due: the weeks whose due date has passed, so the map may show the calls in their solutions
    """
    rows, lines, headings = [], list[MapLine](), dict[int, int]()
    for week in weeks:
        syllabus = read_syllabus(course, week)
        hours = rough_hours(total_minutes(week, syllabus)) if syllabus else ""
        rows.append((week, course.localized(week.due), hours, address.format(week.name)))
        named = _WEEK.findall(" ".join(syllabus.prerequisites if syllabus else ()))
        earlier = sorted({headings[int(n)] for n in named if int(n) in headings})
        headings[int(week.name[4:6])] = len(lines)
        lines.append(MapLine(week, "", tuple(earlier)))
        names, first = [e.name for e in week.exercises], len(lines)
        if week in due:
            source = course.solution(week).read_text(encoding="utf-8")
            graph = read_call_graph(source, names)
        else:
            graph = _stated_graph(stub_of(course, week), names)
        for name, called in graph.calls.items():
            uses = sorted(first + names.index(other) for other in called)
            lines.append(MapLine(week, name, tuple(uses)))
    template = environment("site").get_template("overview.html.j2")
    return Markup(template.render(rows=rows, lines=lines, due=due))  # escaped by the template


def _stated_graph(stub: str, names: Sequence[str]) -> CallGraph:
    """Return the exercises that each exercise's stub calls, or names in backticks."""
    quoted = {
        node.name: frozenset(_QUOTED.findall(ast.get_source_segment(stub, node) or ""))
        & {*names} - {node.name}
        for node in ast.parse(stub).body
        if isinstance(node, DEFINITIONS) and node.name in names
    }
    return read_call_graph(stub, names).with_calls(quoted)
