"""The application that all commands register with, and the arguments that they share."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ..model.errors import KitError
from ..version import __version__

STUDENTS, INSTRUCTORS, AUTHORS = "For students", "For instructors", "For authors"
IN_PROJECT = find_spec(f"{__package__}.project") is not None


def _weeks(incomplete: str) -> list[str]:
    """The weeks that a shell may complete to."""
    from ..model.course.loader import load

    try:
        return [w.name for w in load(unfinished=True).weeks if w.name.startswith(incomplete)]
    except KitError:
        return []


WeekArgument = Annotated[
    str, typer.Argument(help="A week: its name, or its number.", autocompletion=_weeks)
]


class _Commands(TyperGroup):
    """The commands that are installed here; a student's installation has those of students."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Students' first, then instructors' and authors', each in the order of their use."""
        panels = [STUDENTS, INSTRUCTORS, AUTHORS]
        commands = super().list_commands(ctx)
        return sorted(
            commands, key=lambda n: panels.index(getattr(self.commands[n], "rich_help_panel", ""))
        )

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if not IN_PROJECT and self.get_command(ctx, args[0]) is None:
            from difflib import get_close_matches

            if near := get_close_matches(args[0], self.list_commands(ctx), n=1, cutoff=0.75):
                raise KitError(f"there is no command {args[0]!r}; did you mean {near[0]!r}?")
            raise KitError(
                f"there is no command {args[0]!r} for students. Those of instructors and authors "
                "need the course's project folder: run `make setup` there, and the command from "
                "there"
            )
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=_Commands,
    name="autograder",
    help="An auto-graded course on attention: check your work, grade a class, author a week.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=True,
)


def _version(asked: bool) -> None:
    if asked:
        print(f"autograder {__version__}")
        raise typer.Exit


@app.callback()
def _whole(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass
