"""Commands for instructors that publish: push (grades), site."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..model.errors import KitError
from .app import INSTRUCTORS, UnmarkedOption, WeekArgument, app, find_week


@app.command(rich_help_panel=INSTRUCTORS)
def push(
    week: WeekArgument,
    canvas: Annotated[bool, typer.Option("--canvas", help="To Canvas, by its API.")] = False,
    lti: Annotated[
        bool, typer.Option("--lti", help="To a platform with LTI 1.3 grade services.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show the changes.")] = False,
    comments: Annotated[
        bool, typer.Option("--comments/--no-comments", help="Add feedback as a comment.")
    ] = True,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Overwrite grades entered on the platform.")
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
    from .instructor.pushing import run_push

    return run_push(
        course,
        chosen,
        "canvas" if canvas else "lti",
        dry_run=dry_run,
        comments=comments,
        overwrite=overwrite,
        unmarked=unmarked,
    )


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
    """Build the students' site: a page for each week that has been released.

    Example: autograder site --out build/students
    """
    from ..model.course import load

    course = load()
    from .instructor.pushing import run_site

    run_site(course, out or Path("build/preview" if at else "build/students"), at)
