"""`push` (grades to a learning platform) and `site` (the students' pages)."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from ...channels.grades.canvas import canvas_assignment
from ...channels.grades.comments import comments_of
from ...channels.grades.lti import lti_line_item
from ...channels.grades.platforms import Platform
from ...channels.grades.push import Push, Todo, carry_out_push, plan_push
from ...model.course import Course, Week
from ...model.errors import KitError
from ...nbgrader.feedback.provisional import require_marked
from ...nbgrader.gradebook.final_scores import final_scores
from ...pages.environment import points as as_points
from ...terminal.console import terminal
from ..output import counted, counting, plural


def run_push(
    course: Course,
    week: Week,
    system: str,
    *,
    dry_run: bool,
    comments: bool,
    overwrite: bool,
    unmarked: bool,
) -> bool:
    """Push a week's grades, or show the changes; return False if something needs attention."""
    scores = final_scores(course, week)
    if not scores:
        raise KitError(f"{week.name} has no grades: run `autograder grade {week.name}` first")
    if not unmarked:
        require_marked(course, [week], scores)
    platform: Platform = (
        canvas_assignment(course, week)
        if system == "canvas"
        else lti_line_item(course, week, make=not dry_run)
    )
    texts = comments_of(course, week, scores) if comments else {}
    push = plan_push(course, week, platform, scores, texts, overwrite=overwrite)
    same = len(push.of(Todo.SAME))
    if dry_run:
        for one in push.of(Todo.WRITE):
            before = "nothing" if one.before is None else as_points(one.before)
            comment = ", with a comment" if one.comment else ""
            print(f"would write  {one.student}: {as_points(one.points)} (there: {before}){comment}")
        print(f"{len(push.of(Todo.WRITE))} would be written, {same} are up to date")
    else:
        with counting("pushing", len(push.of(Todo.WRITE))) as advance:
            carry_out_push(course, week, platform, push, advance)
        print(f"{len(push.written)} written, {same} were up to date")
    return _print_problems(week, push, system)


def _print_problems(week: Week, push: Push, system: str) -> bool:
    changed = push.of(Todo.CHANGED_THERE)
    for one in changed:
        print(
            f"LOOK  {one.student}: the grade there was changed to {as_points(one.before or 0.0)}; "
            f"here it is {as_points(one.points)}: not overwritten without --overwrite"
        )
    for student in push.unmatched:
        print(f"UNMATCHED  {student} is not a student of the course there")
    for note in push.notes:
        print(f"LOOK  {note}")
    for why in dict.fromkeys(push.failed.values()):
        students = [s for s, reason in push.failed.items() if reason == why]
        print(f"LOOK  not written: {counted(students)}: {why}")
    if push.failed:
        print(f"run `autograder push {week.name} --{system}` again to continue")
    return not (changed or push.unmatched or push.notes or push.failed)


def run_site(course: Course, out: Path, at: str | None) -> None:
    """Build the students' site; `at`: the date that it is built for."""
    from ...site.build import build_site

    try:
        now = course.localized(dt.datetime.fromisoformat(at)) if at else None
    except ValueError:
        raise KitError(f"--at {at!r} is not a date such as 2027-02-01") from None
    with terminal(stderr=True).status("building the site") as status:
        built = build_site(
            course, out, now=now, on_week=lambda name: status.update(f"running {name}")
        )
    print(f"{built.folder / 'index.html'}: {plural(len(built.weeks), 'week')}")
    if built.waiting:
        print(f"not included, because not released yet: {', '.join(built.waiting)}")
