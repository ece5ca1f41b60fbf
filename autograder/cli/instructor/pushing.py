"""`push` (grades to a learning platform) and `site` (the students' pages)."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from ...model.errors import KitError
from ...terminal.console import terminal
from ..app import flag, instructor_command
from ..options import UnmarkedOption, WeekArgument, find_week
from ..output import counted, counting, plural, print_attention

if TYPE_CHECKING:
    from ...channels.push import Platform


@instructor_command
def push(
    week: WeekArgument,
    canvas: Annotated[bool, flag("canvas", "To Canvas, by its API.")] = False,
    lti: Annotated[bool, flag("lti", "To a platform with LTI 1.3 grade services.")] = False,
    dry_run: Annotated[bool, flag("dry-run", "Only show the changes.")] = False,
    comments: Annotated[
        bool, Option("--comments/--no-comments", help="Add feedback as a comment.")
    ] = True,
    overwrite: Annotated[
        bool, flag("overwrite", "Overwrite grades entered on the platform.")
    ] = False,
    unmarked: UnmarkedOption = False,
) -> bool:
    """Write a week's grades to a learning platform; run it again to continue after an error.

    The secret comes from the environment (CANVAS_TOKEN, LTI_KEY) or a file with mode 600.

    Example: autograder push week01 --canvas --dry-run
    """
    course, chosen = find_week(week)
    if canvas + lti != 1:
        raise KitError("name one of --canvas and --lti")
    from ...channels.canvas import canvas_assignment
    from ...channels.lti import lti_line_item
    from ...channels.push import Todo, carry_out_push, comments_of, plan_push
    from ...nbgrader.gradebook.final_scores import final_scores, require_marked
    from ...pages.environment import points as as_points

    scores = final_scores(course, chosen)
    if not scores:
        raise KitError(f"{chosen.name} has no grades: run `autograder grade {chosen.name}` first")
    if not unmarked:
        require_marked(course, [chosen], scores)
    platform: Platform = (
        canvas_assignment(course, chosen)
        if canvas
        else lti_line_item(course, chosen, create=not dry_run)
    )
    texts = comments_of(course, chosen, scores) if comments else {}
    push = plan_push(course, chosen, platform, scores, texts, overwrite=overwrite)
    to_write, same = push.of(Todo.WRITE), len(push.of(Todo.SAME))
    if dry_run:
        for one in to_write:
            before = "nothing" if one.before is None else as_points(one.before)
            comment = ", with a comment" if one.comment else ""
            print(f"would write  {one.student}: {as_points(one.points)} (there: {before}){comment}")
        print(f"{len(to_write)} would be written, {same} are up to date")
    else:
        with counting("pushing", len(to_write)) as advance:
            carry_out_push(course, chosen, platform, push, advance)
        print(f"{len(push.written)} written, {same} were up to date")
    changed = push.of(Todo.CHANGED_THERE)
    attention = [
        f"{one.student}: the grade there was changed to {as_points(one.before or 0.0)}; here it "
        f"is {as_points(one.points)}: not overwritten without --overwrite"
        for one in changed
    ]
    for why in dict.fromkeys(push.failed.values()):
        students = [s for s, reason in push.failed.items() if reason == why]
        attention.append(f"not written: {counted(students)}: {why}")
    matched = print_attention(
        (f"{student} is not a student of the course there" for student in push.unmatched),
        "UNMATCHED",
    )
    fine = print_attention([*attention, *push.notes])
    if push.failed:
        print(f"run `autograder push {chosen.name} --{platform.name}` again to continue")
    return matched and fine


@instructor_command
def site(
    out: Annotated[Path | None, Option(help="The site's folder; default: build/students.")] = None,
    at: Annotated[
        str | None,
        Option(
            metavar="DATE",
            help="Preview it as of a date such as 2027-02-01; default folder: build/preview.",
        ),
    ] = None,
) -> None:
    """Build the students' site: a page for each week that has been released.

    Example: autograder site --out build/students
    """
    from ...model.course import load
    from ...site.build import build_site

    course = load()
    folder = out or Path("build/preview" if at else "build/students")
    try:
        now = course.localized(dt.datetime.fromisoformat(at)) if at else None
    except ValueError:
        raise KitError(f"--at {at!r} is not a date such as 2027-02-01") from None
    with terminal(stderr=True).status("building the site") as status:
        built = build_site(
            course, folder, now=now, on_week=lambda name: status.update(f"running {name}")
        )
    print(f"{built.folder / 'index.html'}: {plural(len(built.weeks), 'week')}")
    if built.waiting:
        print(f"not included, because not released yet: {', '.join(built.waiting)}")
