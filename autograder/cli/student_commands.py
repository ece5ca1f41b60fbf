"""Commands for students: check, hint, watch, progress, reset, submit, solution."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from .app import flag, student_command

FolderOption = Annotated[Path | None, Option(help="A week's folder; default: the current folder.")]
SecondsOption = Annotated[float, Option(min=1, help="Time limit for each check.")]


def _complete_exercise(incomplete: str) -> list[str]:
    from ..model.errors import KitError
    from ..student.folder.week import open_folder

    try:
        return [n for n in open_folder().names if n.startswith(incomplete)]
    except KitError:
        return []


def _exercise(help: str) -> typer.models.ArgumentInfo:
    argument: typer.models.ArgumentInfo = Argument(help=help, autocompletion=_complete_exercise)
    return argument


ExerciseArgument = Annotated[str | None, _exercise("An exercise such as softmax; default: all.")]


@student_command
def check(
    exercise: ExerciseArgument = None,
    folder: FolderOption = None,
    seconds: SecondsOption = 20.0,
) -> bool:
    """Run the public checks on your file; exit code 0 if all pass, 1 if not.

    A project folder that combines several weeks is checked by its name: `autograder check
    capstone`.

    Example: autograder check softmax
    """
    from ..student.commands.terminal_commands import run_check

    return run_check(exercise, folder, seconds)


@student_command
def hint(
    exercise: Annotated[
        str | None, _exercise("An exercise; default: the one to work on next.")
    ] = None,
    again: Annotated[bool, Option(help="Show only the hints you have seen.")] = False,
    folder: FolderOption = None,
) -> bool:
    """Show the hints so far and the next one; each is more concrete than the one before.

    Example: autograder hint softmax
    """
    from ..student.commands.terminal_commands import run_hint

    return run_hint(exercise, folder, again)


@student_command
def watch(
    exercise: ExerciseArgument = None,
    folder: FolderOption = None,
    seconds: SecondsOption = 20.0,
) -> None:
    """Check the exercises again after each save, until Ctrl-C is pressed.

    Example: autograder watch
    """
    from ..student.commands.watch import run_watch

    run_watch(exercise, folder, seconds)


@student_command
def progress(
    folder: Annotated[
        Path | None,
        Option(help="The folder with your weeks; default: the current one, or its parent."),
    ] = None,
) -> None:
    """Show weeks, exercises and points, from the results of the last checks.

    Example: autograder progress
    """
    from ..student.commands.terminal_commands import run_progress

    run_progress(folder)


@student_command
def reset(
    exercise: Annotated[str | None, _exercise("An exercise such as softmax.")] = None,
    everything: Annotated[bool, flag("all", "The whole file.")] = False,
    folder: FolderOption = None,
) -> None:
    """Restore an exercise's stub; your file is saved in the folder `kept` first.

    Example: autograder reset softmax
    """
    from ..student.commands.terminal_commands import run_reset

    run_reset(exercise, everything, folder)


@student_command
def submit(
    week: Annotated[
        str | None, Argument(help="A week: its name or number; default: the current folder.")
    ] = None,
    to: Annotated[
        str, Option(help="The course's service; default: the one named by the week.")
    ] = "",
    exchange: Annotated[
        bool, flag("exchange", "Use nbgrader, even if there is a service.")
    ] = False,
    no_check: Annotated[bool, flag("no-check", "Do not run the public checks first.")] = False,
    no_wait: Annotated[
        bool, flag("no-wait", "Print the receipt and do not wait for the result.")
    ] = False,
    yes: Annotated[
        bool, Option("--yes", "-y", help="Submit without asking, as without a terminal.")
    ] = False,
    folder: FolderOption = None,
) -> bool:
    """Check a week, review the changes, and submit; exit code 1 if a check fails.

    Example: autograder submit
    Example: autograder submit week01 --to https://grade.example.org/
    """
    from ..student.commands.submit import run_submit

    return run_submit(
        week,
        folder,
        to=to,
        exchange=exchange,
        check=not no_check,
        confirm=not yes,
        wait=not no_wait,
    )


@student_command
def solution(
    exercise: Annotated[str, _exercise("An exercise such as softmax.")],
    source: Annotated[
        Path | None,
        Option("--from", help="The folder of the released solutions; default: next to the week."),
    ] = None,
    folder: FolderOption = None,
) -> None:
    """Show the differences between a released solution and your version.

    Solutions are released when submissions no longer earn full points.

    Example: autograder solution softmax
    """
    from ..student.show.solution import run_solution

    run_solution(exercise, folder, source)
