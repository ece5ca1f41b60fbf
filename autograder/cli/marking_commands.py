"""Commands for manual marking: marks (anonymous sheets), requests (for a regrade)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..model.errors import KitError
from .app import INSTRUCTORS, WeekArgument, app, find_week


@app.command(rich_help_panel=INSTRUCTORS)
def marks(
    week: WeekArgument,
    out: Annotated[
        Path | None, typer.Option(help="Write the answers here, with codes instead of names.")
    ] = None,
    sheet: Annotated[Path | None, typer.Option("--from", help="Read a marked sheet.")] = None,
    marker: Annotated[str, typer.Option(help="With --from: the marker's name.")] = "",
    apart: Annotated[
        float, typer.Option(min=0, help="Largest difference of two marks whose mean counts.")
    ] = 0.5,
) -> bool:
    """Mark written answers on an anonymous sheet, by one person or several.

    Exit code 1 if two markers disagree, or an answer was marked in Formgrader.

    Example: autograder marks week01 --out sheet.csv
    Example: autograder marks week01 --from sheet.csv --marker bea
    """
    course, chosen = find_week(week)
    if (out is None) == (sheet is None) or (sheet is not None and not marker):
        raise KitError("name --out FILE, or --from FILE with --marker NAME")
    from .instructor.marks import read_sheet, write_sheet

    if sheet is not None:
        return read_sheet(course, chosen, sheet, marker, apart)
    assert out is not None
    write_sheet(course, chosen, out)
    return True


@app.command(rich_help_panel=INSTRUCTORS)
def requests(
    week: WeekArgument,
    answer: Annotated[
        str | None, typer.Option(metavar="STUDENT", help="Close a request, with --text.")
    ] = None,
    text: Annotated[str, typer.Option(help="The answer, shown in the feedback.")] = "",
) -> bool:
    """Show who asks for a regrade, and why; exit code 1 if a request is open.

    Students ask with a file `regrade-request.md` in the week's folder, submitted again.

    Example: autograder requests week01 --answer ada --text "You are right: see your new score."
    """
    course, chosen = find_week(week)
    if (answer is None) != (not text):
        raise KitError("--answer STUDENT and --text need each other")
    from .instructor.marks import run_requests

    return run_requests(course, chosen, answer, text)
