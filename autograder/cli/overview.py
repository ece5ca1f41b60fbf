"""Commands of an instructor that look back: over the weeks, over a class, over scores given."""

from __future__ import annotations

from typing import Annotated

import typer

from ..model.errors import KitError
from .app import INSTRUCTORS, WeekArgument, app


@app.command(rich_help_panel=INSTRUCTORS)
def status(
    week: Annotated[
        str | None, typer.Argument(help="A week, and then by name; default: every week.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, with every name.")] = False,
) -> None:
    """Show every week at a glance: released, handed in, late, graded, to mark, returned, odd.

    Example: autograder status week01
    """
    from ..model.course.loader import load

    course = load()
    chosen = course.week(week) if week else None
    from .show.instructor.status_table import run_status

    if not run_status(course, chosen, as_json=as_json):
        raise typer.Exit(1)


@app.command(rich_help_panel=INSTRUCTORS)
def regrade(
    week: WeekArgument,
    preview: Annotated[bool, typer.Option("--preview", help="Show what would change.")] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Write it to the gradebook.")] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Bring back the scores before the last --apply.")
    ] = False,
    reason: Annotated[str, typer.Option(help="Why; kept in the log. --apply needs it.")] = "",
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; default: one per core.")
    ] = None,
) -> None:
    """Grade a week again after a hidden test was mended: whose score changes, and why.

    Marks given by hand stay. Exit code 1 if somebody could not be graded.

    Example: autograder regrade week01 --apply --reason "a test asked for too much"
    """
    from ..model.course.loader import load

    course = load()
    chosen = course.week(week)
    if preview + apply + undo != 1:
        raise KitError("name one of --preview, --apply and --undo")
    from .show.instructor.regrading import run_apply, run_preview, run_undo

    if undo:
        run_undo(course, chosen, reason)
    elif not (
        run_apply(course, chosen, reason, jobs=jobs)
        if apply
        else run_preview(course, chosen, jobs=jobs)
    ):
        raise typer.Exit(1)


@app.command(rich_help_panel=INSTRUCTORS)
def restore(
    week: WeekArgument,
    student: Annotated[str, typer.Argument(help="A student, as the gradebook names them.")],
    to: Annotated[
        str | None,
        typer.Option(metavar="WHICH", help="A number of the list, or how a time there begins."),
    ] = None,
) -> None:
    """List a student's submissions of a week, or let an earlier one count again.

    Marks given by hand stay. The restored submission counts until the student submits again.

    Example: autograder restore week01 ada --to 2
    """
    from ..model.course.loader import load

    course = load()
    from .show.instructor.restoring import run_restore

    run_restore(course, course.week(week), student, to)
