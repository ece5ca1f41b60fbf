"""Show the course on one page: a table of its weeks, and a map of what builds on what.

The map is read from the prerequisites in syllabus.yaml, which name weeks, and from the calls
between exercises in the solutions.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ..authoring.lesson.syllabus import read_syllabus, rough_hours, total_minutes
from ..grading.dependencies.error_carried_forward import read_call_graph
from ..model.course import Course, Week
from ..pages.environment import environment

_WEEK = re.compile(r"\bweeks? (\d+)")


@dataclass(frozen=True)
class MapLine:
    """A week (`exercise` is "") or an exercise on the map. `uses`: the lines that it builds on."""

    week: Week
    exercise: str = ""
    uses: tuple[int, ...] = ()


def map_lines(course: Course, weeks: Sequence[Week]) -> list[MapLine]:
    """Return a line for each week, followed by a line for each of its exercises.

    `uses` contains indices of the returned list. Weeks that are not in `weeks` are not mentioned.
    """
    lines, headings = list[MapLine](), dict[int, int]()
    for week in weeks:
        syllabus = read_syllabus(course, week)
        named = {
            int(n) for n in _WEEK.findall(" ".join(syllabus.prerequisites if syllabus else ()))
        }
        earlier = tuple(headings[n] for n in sorted(named) if n in headings)
        headings[int(week.name[4:6])] = len(lines)
        lines.append(MapLine(week, uses=earlier))
        names, first = [e.name for e in week.exercises], len(lines)
        source = course.solution(week).read_text(encoding="utf-8")
        for name, called in read_call_graph(source, names).calls.items():
            uses = tuple(sorted(first + names.index(other) for other in called))
            lines.append(MapLine(week, name, uses))
    return lines


def course_overview(course: Course, weeks: Sequence[Week], address: str) -> Markup:
    """Return a table of the weeks, the map, and the map as text.

    address: the address of a week's page, with {} for the week's name
    """
    rows = []
    for week in weeks:
        syllabus = read_syllabus(course, week)
        hours = rough_hours(total_minutes(week, syllabus)) if syllabus else ""
        points = sum(task.points for task in (*week.exercises, *week.questions))
        rows.append((week, course.localized(week.due), hours, points, address.format(week.name)))
    template = environment("site").get_template("overview.html.j2")
    return Markup(template.render(course=course, rows=rows, lines=map_lines(course, weeks)))
