"""Show the course on one page: a table of its weeks, and a map of what builds on what.

The map shows the weeks named in `prerequisites` of syllabus.yaml and, between exercises, the names
that an exercise's stub quotes. The solution's calls are secret until the week is due.
"""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from markupsafe import Markup

from ..authoring.lesson.syllabus import read_syllabus, rough_hours, total_minutes
from ..grading.dependencies.error_carried_forward import read_call_graph
from ..model.course import Course, Week
from ..model.course.stubs import stub_of
from ..pages.environment import environment

_WEEK = re.compile(r"\bweek (\d+)")
_DEFINITION = re.compile(r"^(?:class|def) (\w+)", re.MULTILINE)
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
            used = read_call_graph(source, names).calls
        else:
            _, *parts = _DEFINITION.split(stub_of(course, week))
            texts = zip(parts[::2], parts[1::2], strict=True)
            used = {name: frozenset(_QUOTED.findall(text)) for name, text in texts}
        for name in names:
            others = used.get(name, frozenset()) & {*names} - {name}
            uses = sorted(first + names.index(other) for other in others)
            lines.append(MapLine(week, name, tuple(uses)))
    template = environment("site").get_template("overview.html.j2")
    return Markup(template.render(rows=rows, lines=lines, due=due))  # escaped by the template
