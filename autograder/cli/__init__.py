"""The command line. Commands import what they need when they run, so that help is instant.

One module per user: `student`, `instructor` (and `overview`), `author`.
"""

from __future__ import annotations

import atexit
import os
import sys
from typing import Annotated

import typer

from ..model.errors import KitError

app = typer.Typer(
    name="autograder",
    help="An auto-graded course on attention: check your work, grade a class, author a week.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
)

# What the wheel or its plain installation leaves out.
_INSTRUCTORS = {"autograder", "nbgrader", "packaging", "psutil", "pyseccomp"}

WeekArgument = Annotated[str, typer.Argument(help="A week: its name, or its number.")]


def main() -> None:
    """Entry point: run the command that was typed, and end with its exit code."""
    _leave(run())


def run(arguments: list[str] | None = None) -> int | str | None:
    """Run a command and return its exit code; an error that the user can mend is one line and 2.

    0: all is as it should be. 1: done, and something is to be looked at. 2: it could not run.
    """
    from . import author, instructor, overview, student  # noqa: F401  # they register their commands

    try:
        app(arguments)
    except SystemExit as end:
        return end.code
    except KitError as error:
        print(f"autograder: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in _INSTRUCTORS:
            raise
        print(
            f"autograder: this command needs {error.name}, which a student's installation leaves "
            "out: run `make setup` in the course's project folder, and the command from there",
            file=sys.stderr,
        )
        return 2
    return 0


def _leave(code: int | str | None) -> None:
    """End the process. With torch and its neighbours loaded, without Python's last clean-up:

    native libraries that are torn down in an unlucky order have crashed there, after all was done.
    """
    if "torch" not in sys.modules or not isinstance(code, int | None):
        sys.exit(code)
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)
