"""`push` on a terminal."""

from __future__ import annotations

from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

from ....channels.grades.canvas import canvas_assignment
from ....channels.grades.comments import comments_of
from ....channels.grades.lti import lti_line_item
from ....channels.grades.platforms import Platform
from ....channels.grades.push import Push, Todo, carry_out_push, plan_push
from ....model.course.loader import Course, Week
from ....model.errors import KitError
from ....nbgrader.feedback.provisional import require_marked
from ....nbgrader.gradebook.transfer import final_scores
from ....pages.environment import points as as_points
from ....terminal.console import bar
from .status_table import counted


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
    """Push a week's grades, or show what would be pushed; return whether nothing needs a look."""
    scores = final_scores(course, week)
    if not scores:
        raise KitError(f"nobody was graded in {week.name}: `autograder grade {week.name}` first")
    if not unmarked:
        require_marked(course, [week], scores)
    platform: Platform = (
        canvas_assignment(course, week)
        if system == "canvas"
        else lti_line_item(course, week, make=not dry_run)
    )
    said = comments_of(course, week, scores) if comments else {}
    push = plan_push(course, week, platform, scores, said, overwrite=overwrite)
    if dry_run:
        _show(push)
    else:
        columns = TextColumn("pushing"), BarColumn(), TimeElapsedColumn()
        with bar(*columns) as progress:
            task = progress.add_task("", total=len(push.of(Todo.WRITE)))
            carry_out_push(course, week, platform, push, lambda: progress.advance(task))
        same = len(push.of(Todo.SAME))
        print(f"{len(push.written)} written, {same} were there already")
    return _look(week, push, system)


def _show(push: Push) -> None:
    """What would be written, a line for each student."""
    for one in push.of(Todo.WRITE):
        before = "nothing" if one.before is None else as_points(one.before)
        comment = ", with a comment" if one.comment else ""
        print(f"would write  {one.student}: {as_points(one.points)} (there: {before}){comment}")
    same = len(push.of(Todo.SAME))
    print(f"{len(push.of(Todo.WRITE))} would be written, {same} are there already")


def _look(week: Week, push: Push, system: str) -> bool:
    changed = push.of(Todo.CHANGED_THERE)
    for one in changed:
        there = as_points(one.before or 0.0)
        print(f"LOOK  {one.student}: somebody entered {there} there; here it is "
              f"{as_points(one.points)}: left alone without --overwrite")  # fmt: skip
    for student in push.unmatched:
        print(f"UNMATCHED  {student} is no student of the course there")
    for note in push.notes:
        print(f"LOOK  {note}")
    for why in dict.fromkeys(push.failed.values()):
        who = [s for s, reason in push.failed.items() if reason == why]
        print(f"LOOK  not written: {counted(who)}: {why}")
    if push.failed:
        print(f"`autograder push {week.name} --{system}` goes on where this stopped")
    return not (changed or push.unmatched or push.notes or push.failed)
