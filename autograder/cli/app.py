"""The application that all commands register with, and the arguments and options they share.

A command is declared and implemented in one function, which imports what it needs when it runs, so
that `--help` is fast. It prints its result and returns False if something needs attention, which
becomes exit code 1. KitError becomes one line and exit code 2 (`cli.run`).
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from ..model.device_axes import CHOICES_IN_WORDS
from ..model.errors import KitError
from ..version import __version__

if TYPE_CHECKING:
    from ..batch.cluster import Cluster
    from ..model.course import Course, Week

STUDENTS, INSTRUCTORS, AUTHORS = "For students", "For instructors", "For authors"
IN_PROJECT = find_spec(f"{__package__}.project_commands") is not None


def flag(name: str, help: str) -> Any:
    """Return an option without the `--no-...` that Typer adds by default."""
    return typer.Option(f"--{name}", help=help)


def _complete_week(incomplete: str) -> list[str]:
    from ..model.course import load

    try:
        return [w.name for w in load(unfinished=True).weeks if w.name.startswith(incomplete)]
    except KitError:
        return []


WeekArgument = Annotated[
    str, typer.Argument(help="A week: its name or number.", autocompletion=_complete_week)
]
JobsOption = Annotated[
    int | None, typer.Option("--jobs", min=1, help="Processes; default: one per core.")
]
DeviceOption = Annotated[str, typer.Option(help=f"{CHOICES_IN_WORDS}.")]
UnmarkedOption = Annotated[
    bool, typer.Option("--unmarked", help="Even if written answers are not marked yet.")
]
ClusterOption = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="A Dask scheduler: tcp://host:8786 or tls://host:8786."),
]
TlsCaOption = Annotated[str | None, typer.Option(help="With tls://: the authority, PEM.")]
TlsCertOption = Annotated[str | None, typer.Option(help="With tls://: your certificate.")]
TlsKeyOption = Annotated[str | None, typer.Option(help="With tls://: its key.")]


def cluster_option(
    address: str | None, ca: str | None, cert: str | None, key: str | None, jobs: int | None
) -> Cluster | None:
    """Return the cluster that the options name, or None; raise KitError if they disagree."""
    from ..batch.cluster import cluster_at

    if address is None:
        if ca or cert or key:
            raise KitError("--tls-ca, --tls-cert and --tls-key need --cluster tls://host:8786")
        return None
    if jobs is not None:
        raise KitError("--jobs is for this machine; a cluster's workers grade one at a time each")
    return cluster_at(address, ca, cert, key)


def find_week(name: str) -> tuple[Course, Week]:
    """Load the course and find a week by name or number; raise KitError if it does not exist."""
    from ..model.course import load

    course = load()
    return course, course.week(name)


class CommandGroup(TyperGroup):
    """The installed commands; a student's installation contains only those for students."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Explain in a student's installation why a command is unknown."""
        if not IN_PROJECT and self.get_command(ctx, args[0]) is None:
            if near := get_close_matches(args[0], self.list_commands(ctx), n=1, cutoff=0.75):
                raise KitError(f"there is no command {args[0]!r}; did you mean {near[0]!r}?")
            raise KitError(
                f"there is no command {args[0]!r} for students. Commands for instructors and "
                "authors need the course's project folder: run `make setup` there, then the "
                "command"
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
    help="An auto-graded course on attention: check your work, grade a class, author a week.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=True,
)

student_command = app.command(rich_help_panel=STUDENTS)
instructor_command = app.command(rich_help_panel=INSTRUCTORS)
author_command = app.command(rich_help_panel=AUTHORS)


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
