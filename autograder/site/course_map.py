"""Show the course on one page: a table of its weeks, and a map of what builds on what.

The map shows the weeks named in `prerequisites` of syllabus.yaml, and the solutions' calls.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from ..authoring.lesson.syllabus import read_syllabus, rough_hours, total_minutes
from ..grading.dependencies.error_carried_forward import read_call_graph
from ..model.course import Course, Week
from ..pages.environment import environment

_WEEK = re.compile(r"\bweek (\d+)")


class MapLine(NamedTuple):
    """A week (`exercise` is "") or an exercise. `uses`: indices of the lines that it builds on."""

    week: Week
    exercise: str
    uses: tuple[int, ...]


def course_overview(course: Course, weeks: Sequence[Week], address: str) -> Markup:
    """Return a table of the weeks, the map, and the map as text; omit all other weeks.

    address: the address of a week's page, with {} for the week's name
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
        source = course.solution(week).read_text(encoding="utf-8")
        for name, called in read_call_graph(source, names).calls.items():
            uses = sorted(first + names.index(other) for other in called)
            lines.append(MapLine(week, name, tuple(uses)))
    template = environment("site").get_template("overview.html.j2")
    return Markup(template.render(rows=rows, lines=lines))  # escaped by the template
