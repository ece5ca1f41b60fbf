"""Define the Typer application to which all commands are added.

Each command is a function that prints its result and returns False if something needs attention
(exit code 1). Commands import other packages only when they run, so that `--help` is fast. A
KitError is printed as one line (exit code 2, see `cli.run`).
"""

from difflib import get_close_matches
from importlib.util import find_spec
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ..model.errors import KitError
from ..version import __version__

STUDENTS, INSTRUCTORS, AUTHORS = "For students", "For instructors", "For authors"
IN_PROJECT = find_spec(f"{__package__}.project_commands") is not None


def flag(name: str, help: str) -> Any:
    """Return a boolean option without the `--no-...` form that Typer adds by default."""
    return typer.Option(f"--{name}", help=help)


class CommandGroup(TyperGroup):
    """The installed commands. A student's installation contains only the commands for students."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Resolve a command. In a student's installation, raise KitError if it is unknown."""
        if not IN_PROJECT and self.get_command(ctx, args[0]) is None:
            if near := get_close_matches(args[0], self.list_commands(ctx), n=1, cutoff=0.75):
                raise KitError(f"there is no command {args[0]!r}; did you mean {near[0]!r}?")
            raise KitError(
                f"there is no command {args[0]!r} for students. Commands for instructors and "
                "authors are in the instructor's wheel, `gradewright`"
            )
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Exit with code 1 if the command returns False."""
        result = super().invoke(ctx)
        if result is False:
            raise typer.Exit(1)
        return result


app = typer.Typer(
    cls=CommandGroup,
    name="autograder",
    help="Auto-graded exercises: check your work, grade a class, write a course.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)

student_command = app.command(rich_help_panel=STUDENTS)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"autograder {__version__}")
        raise typer.Exit


@app.callback()
def _global_options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass
