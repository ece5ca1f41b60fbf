"""The application that all commands register with, and the arguments that they share."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ..model.errors import KitError

IN_PROJECT = find_spec(f"{__package__}.project") is not None
WeekArgument = Annotated[str, typer.Argument(help="A week: its name, or its number.")]


class _Commands(TyperGroup):
    """The commands that are installed here; a student's installation has those of students."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if not IN_PROJECT and self.get_command(ctx, args[0]) is None:
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
    add_completion=False,
)
