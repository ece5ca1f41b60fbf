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
    """Entry point: an error that the user can mend is one line and exit code 2."""
    from . import author, instructor, overview, student  # noqa: F401  # they register their commands

    code: int | str | None = 0
    try:
        app()
    except SystemExit as end:
        code = end.code
    except KitError as error:
        print(f"autograder: {error}", file=sys.stderr)
        code = 2
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in _INSTRUCTORS:
            raise
        print(
            f"autograder: this command needs {error.name}, which a student's installation leaves "
            "out: run `make setup` in the course's project folder, and the command from there",
            file=sys.stderr,
        )
        code = 2
    _leave(code)


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
