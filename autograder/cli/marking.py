"""Commands around marking by people: sheets without names, and requests for a regrade."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..model.errors import KitError
from .app import INSTRUCTORS, WeekArgument, app


@app.command(rich_help_panel=INSTRUCTORS)
def marks(
    week: WeekArgument,
    out: Annotated[
        Path | None, typer.Option(help="Write the answers here, with codes in place of names.")
    ] = None,
    sheet: Annotated[Path | None, typer.Option("--from", help="Read a marked sheet.")] = None,
    marker: Annotated[str, typer.Option(help="With --from: whose marks they are.")] = "",
    apart: Annotated[
        float, typer.Option(min=0, help="How far apart two marks may be; then their mean counts.")
    ] = 0.5,
) -> None:
    """Mark written answers on a sheet, without names, and by more than one person.

    Exit code 1 if two markers are too far apart, or somebody marked in Formgrader.

    Example: autograder marks week01 --out sheet.csv
    Example: autograder marks week01 --from sheet.csv --marker bea
    """
    from ..model.course.loader import load

    course = load()
    chosen = course.week(week)
    if (out is None) == (sheet is None) or (sheet is not None and not marker):
        raise KitError("name --out FILE, or --from FILE with --marker NAME")
    from .show.instructor.marks import run_read, run_sheet

    if out is not None:
        run_sheet(course, chosen, out)
    elif sheet is not None and not run_read(course, chosen, sheet, marker, apart):
        raise typer.Exit(1)


@app.command(rich_help_panel=INSTRUCTORS)
def requests(
    week: WeekArgument,
    answer: Annotated[
        str | None, typer.Option(metavar="STUDENT", help="Close a request, with --text.")
    ] = None,
    text: Annotated[str, typer.Option(help="What the student reads in the feedback.")] = "",
) -> None:
    """Show who asks for a regrade, and why; exit code 1 if somebody waits for an answer.

    Students ask with a file `regrade-request.md` in the week's folder, submitted again.

    Example: autograder requests week01 --answer ada --text "You are right: see your new score."
    """
    from ..model.course.loader import load

    course = load()
    chosen = course.week(week)
    if (answer is None) != (not text):
        raise KitError("--answer STUDENT and --text go together")
    from .show.instructor.marks import run_requests

    if not run_requests(course, chosen, answer, text):
        raise typer.Exit(1)
