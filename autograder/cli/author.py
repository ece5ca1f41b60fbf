"""Commands of an author: build, verify, try, new."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..model.device_axes import CHOICES_IN_WORDS
from .app import AUTHORS, WeekArgument, app


@app.command(rich_help_panel=AUTHORS)
def build(
    check: Annotated[
        bool, typer.Option(help="Write nothing; exit 1 if a stub or a figure is stale.")
    ] = False,
    figures: Annotated[bool, typer.Option(help="Draw the figures too.")] = False,
) -> None:
    """Make the stubs in exercises/ from the solutions, and the figures in assets/.

    Example: autograder build --check
    """
    from ..model.course.loader import load
    from ..model.course.stubs import stale, write_stubs

    course = load(unfinished=True)
    from ..authoring.lesson.figures import draw_figures, stale_figures

    paths = stale(course) if check else write_stubs(course)
    for path in paths:
        print(f"{path} is stale: run `autograder build`" if check else f"wrote {path}")
    if not paths:
        print(f"{len(course.weeks)} stubs are up to date")
    if check:
        drawn_otherwise = [p for week in course.weeks for p in stale_figures(course, week)]
        print("\n".join(drawn_otherwise) or "the figures are as they are drawn")
        if paths or drawn_otherwise:
            raise typer.Exit(1)
    elif figures:
        for week in course.weeks:
            for drawn in draw_figures(course, week):
                print(f"drew {drawn.relative_to(course.root)}")


@app.command(rich_help_panel=AUTHORS)
def verify(
    weeks: Annotated[list[str] | None, typer.Argument(help="Weeks; all by default.")] = None,
    quick: Annotated[
        bool, typer.Option(help="Without the sandbox: the bank is project code.")
    ] = False,
    device: Annotated[str, typer.Option(help=f"{CHOICES_IN_WORDS}.")] = "auto",
    only: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Only this exercise, misconception or test."),
    ] = None,
    watching: Annotated[
        bool, typer.Option("--watch", help="Run again, at each save, what it has changed.")
    ] = False,
    lesson: Annotated[
        bool, typer.Option("--lesson", help="Run the lessons beside the solution too.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Prove again what has not changed.")
    ] = False,
    mutants: Annotated[
        bool, typer.Option(help="Hunt small changes of the solutions instead of the bank.")
    ] = False,
    draws: Annotated[
        int,
        typer.Option(
            min=0,
            help="Repeat with N other sets of hidden inputs, the same on every machine, instead of "
            "this course's own, to find checks that pass by luck.",
        ),
    ] = 0,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; default: one per core.")
    ] = None,
) -> None:
    """Prove that graders and public checks are fair and sharp, on the whole bank of each week.

    Example: autograder verify week02 --quick
    Example: autograder verify --quick --only test_any_axis --watch
    """
    from ..model.course.loader import load

    course = load()
    from ..authoring.verify.selection import aims
    from .show.author.verification import Wanted, run_verification

    chosen = [course.week(w) for w in weeks] if weeks else list(course.weeks)
    if mutants:
        from .show.author.mutation import run_hunt

        if not run_hunt(course, chosen):
            raise typer.Exit(1)
        return
    aimed = tuple(aims(course, chosen, only)) if only else ()
    if aimed:
        chosen = [w for w in chosen if any(a.week == w.name for a in aimed)]
    wanted = Wanted(course, chosen, quick, device, draws, jobs, lesson, aimed, fresh)
    if watching:
        from .show.author.proof_watch import watch_verification

        watch_verification(wanted, only)
    elif not run_verification(wanted):
        raise typer.Exit(1)


@app.command("try", rich_help_panel=AUTHORS)
def try_(
    week: WeekArgument,
    what: Annotated[
        str, typer.Argument(help="A file, a folder, a zip, a misconception, or - to read Python.")
    ],
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    quick: Annotated[
        bool, typer.Option(help="Without the sandbox: code that you trust only.")
    ] = False,
    device: Annotated[str, typer.Option(help=f"{CHOICES_IN_WORDS}.")] = "auto",
    out: Annotated[
        Path | None, typer.Option(help="The page; default: in .autograder/tried.")
    ] = None,
) -> None:
    """Show what a student who hands this in would read: scores, names, the line, and the page.

    If a piece of Python lacks some exercises, the solution's are taken for them.

    Example: autograder try week02 hides_what_is_allowed --open
    """
    from ..model.course.loader import load

    course = load()
    from .show.author.try_file import run_try

    chosen = course.week(week)
    if not run_try(course, chosen, what, show=show, quick=quick, device=device, out=out):
        raise typer.Exit(1)


@app.command(rich_help_panel=AUTHORS)
def new(
    week: Annotated[
        str, typer.Argument(help="A week that is there, or a new one's name: week08_topic.")
    ],
    exercise: Annotated[
        str | None,
        typer.Option(help="The exercise; default: named like the topic, or like the function."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE:FUNCTION", help="Make it from a function of yours."),
    ] = None,
    keep_all: Annotated[
        bool,
        typer.Option("--yes", "--all", "-y", help="Keep all misconceptions that are proposed."),
    ] = False,
    course: Annotated[
        str | None,
        typer.Option(help="Make a new course with this title, in the folder that you are in."),
    ] = None,
) -> None:
    """Make an exercise, in a week that is there or in a new one, with blanks to fill in.

    With --from its tests, its public check and up to ten misconceptions are proposed: calls that
    work, a property that holds, small changes of the function, each of which you keep or not.

    Example: autograder new week10_pooling --exercise mean_pool
    Example: autograder new week02 --from mine.py:window_mask
    """
    from .show.author.making import run_new

    run_new(week, exercise=exercise, source=source, keep_all=keep_all, title=course)
