"""Commands for authors: build, verify, try, new."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..model.device_axes import CHOICES_IN_WORDS
from .app import AUTHORS, JobsOption, WeekArgument, app, find_week


@app.command(rich_help_panel=AUTHORS)
def build(
    check: Annotated[
        bool, typer.Option(help="Write nothing; exit with code 1 if a stub or figure is stale.")
    ] = False,
    figures: Annotated[bool, typer.Option(help="Draw the figures too.")] = False,
) -> bool:
    """Generate the stubs in exercises/ from the solutions, and the figures in assets/.

    Example: autograder build --check
    """
    from ..model.course import load
    from ..model.course.stubs import stale, write_stubs

    course = load(unfinished=True)
    from ..authoring.lesson.figures import draw_figures, stale_figures

    paths = stale(course) if check else write_stubs(course)
    for path in paths:
        print(f"{path} is stale: run `autograder build`" if check else f"wrote {path}")
    if not paths:
        print(f"{len(course.weeks)} stubs are up to date")
    if check:
        drawings = [p for week in course.weeks for p in stale_figures(course, week)]
        print("\n".join(drawings) or "the figures are up to date")
        return not (paths or drawings)
    if figures:
        for week in course.weeks:
            for drawn in draw_figures(course, week):
                print(f"drew {drawn.relative_to(course.root)}")
    return True


@app.command(rich_help_panel=AUTHORS)
def verify(
    weeks: Annotated[list[str] | None, typer.Argument(help="Weeks; default: all.")] = None,
    quick: Annotated[
        bool, typer.Option(help="Without the sandbox: the bank is project code.")
    ] = False,
    device: Annotated[str, typer.Option(help=f"{CHOICES_IN_WORDS}.")] = "auto",
    only: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Only this exercise, misconception or test."),
    ] = None,
    watching: Annotated[
        bool, typer.Option("--watch", help="Verify again after each save.")
    ] = False,
    lesson: Annotated[
        bool, typer.Option("--lesson", help="Run the lessons with the solution too.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Verify unchanged parts again too.")
    ] = False,
    mutants: Annotated[
        bool, typer.Option(help="Try small edits of the solutions instead of the bank.")
    ] = False,
    draws: Annotated[
        int,
        typer.Option(
            min=0,
            help="Repeat with N sets of hidden inputs, the same on every machine, instead of this "
            "course's, to find checks that pass by luck.",
        ),
    ] = 0,
    jobs: JobsOption = None,
) -> bool:
    """Verify on each week's bank that graders and public checks are fair and strict.

    Example: autograder verify week02 --quick
    Example: autograder verify --quick --only test_any_axis --watch
    """
    from ..model.course import load

    course = load()
    from ..authoring.verify.selection import find_selections

    chosen = [course.week(w) for w in weeks] if weeks else list(course.weeks)
    if mutants:
        from .author.mutation import run_mutants

        return run_mutants(course, chosen)
    from .author.verification import Verify, run_verification

    aimed = tuple(find_selections(course, chosen, only)) if only else ()
    if aimed:
        chosen = [w for w in chosen if any(a.week == w.name for a in aimed)]
    request = Verify(course, chosen, quick, device, draws, jobs, lesson, aimed, fresh)
    if not watching:
        return run_verification(request)
    from .author.verification_watch import watch_verification

    watch_verification(request, only)
    return True


@app.command("try", rich_help_panel=AUTHORS)
def try_(
    week: WeekArgument,
    what: Annotated[
        str,
        typer.Argument(
            help="A file, folder, zip or misconception, or - to read Python from stdin."
        ),
    ],
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    quick: Annotated[
        bool, typer.Option(help="Without the sandbox: only for code that you trust.")
    ] = False,
    device: Annotated[str, typer.Option(help=f"{CHOICES_IN_WORDS}.")] = "auto",
    out: Annotated[
        Path | None, typer.Option(help="The page; default: in .autograder/tried.")
    ] = None,
) -> bool:
    """Show the feedback that a student would get: scores, misconceptions, lines, the page.

    If Python source lacks some exercises, the solution's are used.

    Example: autograder try week02 hides_what_is_allowed --open
    """
    course, chosen = find_week(week)
    from .author.try_file import run_try

    return run_try(course, chosen, what, show=show, quick=quick, device=device, out=out)


@app.command(rich_help_panel=AUTHORS)
def new(
    week: Annotated[
        str, typer.Argument(help="An existing week, or the name of a new one: week08_topic.")
    ],
    exercise: Annotated[
        str | None,
        typer.Option(help="The exercise; default: the name of the topic."),
    ] = None,
    course: Annotated[
        str | None,
        typer.Option(help="Make a new course with this title in the current folder."),
    ] = None,
) -> None:
    """Make an exercise, in an existing week or a new one, with blanks to fill in.

    Example: autograder new week10_pooling --exercise mean_pool
    """
    from .author.making import run_new

    run_new(week, exercise=exercise, title=course)
