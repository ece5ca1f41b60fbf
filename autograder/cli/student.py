"""Commands of a student: check, hint, watch, progress, reset, submit, solution."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .app import STUDENTS, app

FolderOption = Annotated[
    Path | None, typer.Option(help="A week's folder; default: the one you are in.")
]


def _exercises(incomplete: str) -> list[str]:
    """The exercises that a shell may complete to."""
    from ..model.errors import KitError
    from ..student.folder.week import open_folder

    try:
        return [n for n in open_folder().names if n.startswith(incomplete)]
    except KitError:
        return []


ExerciseArgument = Annotated[
    str | None,
    typer.Argument(help="An exercise such as softmax; default: all.", autocompletion=_exercises),
]


@app.command(rich_help_panel=STUDENTS)
def check(
    exercise: ExerciseArgument = None,
    folder: FolderOption = None,
    seconds: Annotated[float, typer.Option(min=1, help="Time limit for each check.")] = 20.0,
) -> None:
    """Run the public checks on your own file; exit code 0 when all pass, 1 when not.

    A folder that puts several weeks together is checked by its name: `autograder check capstone`.

    Example: autograder check softmax
    """
    from ..student.commands.terminal_commands import run_check

    if not run_check(exercise, folder, seconds):
        raise typer.Exit(1)


@app.command(rich_help_panel=STUDENTS)
def hint(
    exercise: Annotated[
        str | None,
        typer.Argument(
            help="An exercise; default: the one to work on next.", autocompletion=_exercises
        ),
    ] = None,
    again: Annotated[bool, typer.Option(help="Show those you have seen, and no new one.")] = False,
    folder: FolderOption = None,
) -> None:
    """Give the next hint for an exercise; each is more concrete than the one before.

    Example: autograder hint softmax
    """
    from ..student.commands.terminal_commands import run_hint

    if not run_hint(exercise, folder, again):
        raise typer.Exit(1)


@app.command(rich_help_panel=STUDENTS)
def watch(
    exercise: ExerciseArgument = None,
    folder: FolderOption = None,
    seconds: Annotated[float, typer.Option(min=1, help="Time limit for each check.")] = 20.0,
) -> None:
    """Check again whenever you save, only what changed.

    Keys: h hint, n next, l list, c check all, q quit.

    Example: autograder watch
    """
    from ..student.commands.watch import run_watch

    run_watch(exercise, folder, seconds)


@app.command(rich_help_panel=STUDENTS)
def progress(
    folder: Annotated[
        Path | None, typer.Option(help="Where your weeks are; default: here, or the folder above.")
    ] = None,
) -> None:
    """Show weeks, exercises and points as bars, as the last checks left them.

    Example: autograder progress
    """
    from ..student.commands.terminal_commands import run_progress

    run_progress(folder)


@app.command(rich_help_panel=STUDENTS)
def reset(
    exercise: Annotated[
        str | None, typer.Argument(help="An exercise such as softmax.", autocompletion=_exercises)
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="The whole file.")] = False,
    folder: FolderOption = None,
) -> None:
    """Put an exercise's stub back; your file as it was is kept in the folder `kept`.

    Example: autograder reset softmax
    """
    from ..student.commands.terminal_commands import run_reset

    run_reset(exercise, everything, folder)


@app.command(rich_help_panel=STUDENTS)
def submit(
    week: Annotated[
        str | None, typer.Argument(help="A week: its name or number; default: the one you are in.")
    ] = None,
    to: Annotated[
        str, typer.Option(help="The course's service; default: the one that the week names.")
    ] = "",
    exchange: Annotated[
        bool, typer.Option("--exchange", help="Through nbgrader, even if there is a service.")
    ] = False,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Without running the public checks first.")
    ] = False,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="Print the receipt, and do not wait for the result.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Submit without asking, as without a terminal.")
    ] = False,
    folder: FolderOption = None,
) -> None:
    """Check a week, show what is kept, replaced or missing, submit; exit code 1 if a check fails.

    Example: autograder submit
    Example: autograder submit week01 --to https://grade.example.org/
    """
    from ..student.commands.submit import run_submit

    if not run_submit(
        week,
        folder,
        to=to,
        exchange=exchange,
        check=not no_check,
        confirm=not yes,
        wait=not no_wait,
    ):
        raise typer.Exit(1)


@app.command(rich_help_panel=STUDENTS)
def solution(
    exercise: Annotated[
        str, typer.Argument(help="An exercise such as softmax.", autocompletion=_exercises)
    ],
    source: Annotated[
        Path | None,
        typer.Option("--from", help="The released solutions: a folder or a zip; default: beside."),
    ] = None,
    folder: FolderOption = None,
) -> None:
    """Show a released solution beside your own, and what differs.

    Solutions are released once nobody can hand in without losing points any more.

    Example: autograder solution softmax
    """
    from ..student.show.solution import run_solution

    run_solution(exercise, folder, source)
