"""`verify`: prove on the bank that graders and public checks are fair and strict."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Annotated

from rich.table import Table
from typer import Argument, Option

from ...model.availability import missing_in_words
from ...model.course import Course, Week, load
from ...terminal.console import terminal
from ..app import author_command, flag
from ..options import DeviceOption, JobsOption
from ..output import plural, print_attention

if TYPE_CHECKING:
    from ...authoring.verify.week_parts import Verification


@author_command
def verify(
    weeks: Annotated[list[str] | None, Argument(help="Weeks; default: all.")] = None,
    quick: Annotated[bool, Option(help="Without the sandbox: the bank is project code.")] = False,
    device: DeviceOption = "auto",
    only: Annotated[
        str | None,
        Option(metavar="NAME", help="Only this exercise, misconception or the exercise of a test."),
    ] = None,
    watching: Annotated[bool, flag("watch", "Verify again after each save.")] = False,
    lesson: Annotated[bool, flag("lesson", "Run the lessons with the solution too.")] = False,
    fresh: Annotated[bool, flag("fresh", "Verify unchanged parts again too.")] = False,
    mutants: Annotated[
        bool, Option(help="Try small edits of the solutions instead of the bank.")
    ] = False,
    draws: Annotated[
        int,
        Option(
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
    course = load()
    chosen = [course.week(w) for w in weeks] if weeks else list(course.weeks)
    if watching:
        _watch(course, chosen)
        return True
    if mutants:
        from .mutation import run_mutants

        return run_mutants(course, chosen)
    from ...authoring.verify.week_parts import find_selections
    from .verification import Verify, verified

    aims = tuple(find_selections(course, chosen, only)) if only else ()
    if aims:
        chosen = [w for w in chosen if any(a.week == w.name for a in aims)]
    request = Verify(course, chosen, quick, device, draws, jobs, lesson, aims, fresh)
    results = verified(request, _print)
    gaps = sum(len(r.gaps) for r in results)
    repeated = f", {draws} draws" if draws > 1 else ""
    terminal(soft_wrap=True).print(
        f"{plural(len(results), 'week')}, {sum(r.tests for r in results)} tests, "
        f"{sum(r.alternatives for r in results)} alternatives, "
        f"{sum(len(r.rows) for r in results)} misconceptions{repeated}: {gaps} gaps"
    )
    return gaps == 0


def _watch(course: Course, weeks: list[Week]) -> None:
    """Run this command without `--watch`, and again after each save, until Ctrl-C."""
    from watchfiles import run_process

    places = [course.root / "course.yaml"]
    for week in weeks:
        places += [course.solution_folder(week), course.graders(week), course.exercise_folder(week)]
    again = [sys.executable, "-m", "autograder", *(a for a in sys.argv[1:] if a != "--watch")]
    print("verifying again after each save; Ctrl-C ends", flush=True)
    run_process(
        *(p for p in places if p.exists()),
        target=shlex.join(again),
        watch_filter=lambda change, path: path.endswith((".py", ".md", ".yaml")),
    )


def _print(result: Verification) -> None:
    console = terminal(soft_wrap=True)
    table = Table(title=result.week, title_justify="left", show_lines=False)
    for heading in ("misconception", "exercise", "rejected by", "diagnosed as"):
        table.add_column(heading, overflow="fold")
    for row in result.rows:
        tests = [t.split("::")[-1] for t in row.rejected_by]
        more = f" +{len(tests) - 3}" if len(tests) > 3 else ""
        rejected_by = ", ".join(tests[:3]) + more or "NOTHING"
        table.add_row(row.name, row.exercise, rejected_by, ", ".join(row.diagnosed_as) or "-")
    console.print(table)
    if result.not_run:
        console.print(f"not run on this machine: {len(result.not_run)} tests", style="dim")
    for extra in result.lacking:
        console.print(f"not_run: exercises of {result.week} need {missing_in_words(extra)}")
    print_attention(result.gaps, "GAP")
