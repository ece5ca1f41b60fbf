"""Commands for instructors that review weeks and scores: status, regrade, restore."""

from __future__ import annotations

from typing import Annotated

import typer

from ..model.errors import KitError
from .app import INSTRUCTORS, JobsOption, WeekArgument, app, find_week


@app.command(rich_help_panel=INSTRUCTORS)
def status(
    week: Annotated[
        str | None, typer.Argument(help="A week, shown by name; default: every week.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, with every name.")] = False,
) -> bool:
    """Show every week at a glance: released, submitted, late, graded, to mark, returned, odd.

    Example: autograder status week01
    """
    from ..model.course import load

    course = load()
    chosen = course.week(week) if week else None
    from .instructor.status_table import run_status

    return run_status(course, chosen, as_json=as_json)


@app.command(rich_help_panel=INSTRUCTORS)
def regrade(
    week: WeekArgument,
    preview: Annotated[bool, typer.Option("--preview", help="Show the changes.")] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Write it to the gradebook.")] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Restore the scores before the last --apply.")
    ] = False,
    reason: Annotated[str, typer.Option(help="Why; recorded in the log. --apply needs it.")] = "",
    jobs: JobsOption = None,
) -> bool:
    """Grade a week again after a hidden test was fixed; show whose score changes, and why.

    Marks by instructors stay. Exit code 1 if a submission could not be graded.

    Example: autograder regrade week01 --apply --reason "a test was too strict"
    """
    course, chosen = find_week(week)
    if preview + apply + undo != 1:
        raise KitError("name one of --preview, --apply and --undo")
    from .instructor.regrading import run_apply, run_preview, run_undo

    if apply:
        return run_apply(course, chosen, reason, jobs=jobs)
    if preview:
        return run_preview(course, chosen, jobs=jobs)
    run_undo(course, chosen, reason)
    return True


@app.command(rich_help_panel=INSTRUCTORS)
def restore(
    week: WeekArgument,
    student: Annotated[str, typer.Argument(help="A student's name in the gradebook.")],
    to: Annotated[
        str | None,
        typer.Option(metavar="WHICH", help="A number from the list, or the start of its time."),
    ] = None,
) -> None:
    """List a student's submissions of a week, or restore an earlier one.

    Marks by instructors stay. The restored submission counts until the student submits again.

    Example: autograder restore week01 ada --to 2
    """
    course, chosen = find_week(week)
    from .instructor.regrading import run_restore

    run_restore(course, chosen, student, to)
