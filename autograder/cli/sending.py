"""Commands that send something to another system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..model.errors import KitError
from .app import INSTRUCTORS, WeekArgument, app


@app.command(rich_help_panel=INSTRUCTORS)
def push(
    week: WeekArgument,
    canvas: Annotated[bool, typer.Option("--canvas", help="To Canvas, by its API.")] = False,
    lti: Annotated[
        bool, typer.Option("--lti", help="To a platform with LTI 1.3 grade services.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be written; write nothing.")
    ] = False,
    comments: Annotated[
        bool, typer.Option("--comments/--no-comments", help="Feedback as a comment, too.")
    ] = True,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Overwrite grades that somebody entered there.")
    ] = False,
    unmarked: Annotated[
        bool, typer.Option("--unmarked", help="Even if written answers wait to be marked.")
    ] = False,
) -> None:
    """Write a week's grades into a learning platform; run again, it goes on where it stopped.

    The secret comes from the environment (CANVAS_TOKEN, LTI_KEY) or a file with mode 600.

    Example: autograder push week01 --canvas --dry-run
    """
    from ..model.course.loader import load

    course = load()
    chosen = course.week(week)
    if canvas + lti != 1:
        raise KitError("name one of --canvas and --lti")
    from .show.instructor.pushing import run_push

    if not run_push(
        course,
        chosen,
        "canvas" if canvas else "lti",
        dry_run=dry_run,
        comments=comments,
        overwrite=overwrite,
        unmarked=unmarked,
    ):
        raise typer.Exit(1)


@app.command(rich_help_panel=INSTRUCTORS)
def site(
    out: Annotated[
        Path | None, typer.Option(help="The site's folder; default: build/students.")
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="DATE",
            help="Preview it as of a date such as 2027-02-01; default folder: build/preview.",
        ),
    ] = None,
) -> None:
    """Make the students' site: a page for each week that is released, and nothing of the others.

    Example: autograder site --out build/students
    """
    from ..model.course.loader import load
    from .show.instructor.student_site import run_site

    run_site(load(), out or Path("build/preview" if at else "build/students"), at)
