"""`build`, `verify` and `new`: generate, verify and create the files of weeks."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ...model.availability import missing_in_words
from ...model.course import Course, Week, load
from ...model.errors import CourseError, KitError, NoCourse
from ...model.message_text import plural
from ...terminal.console import Terminal
from ..app import flag
from ..options import DeviceOption, JobsOption
from ..output import new_table, print_attention

if TYPE_CHECKING:
    from ...authoring.verify.week_parts import Verification


def build(
    check: Annotated[bool, Option(help="Write nothing; exit with 1 if a file is stale.")] = False,
    figures: Annotated[bool, Option(help="Draw the figures too.")] = False,
    inputs: Annotated[
        str | None,
        Option(metavar="WEEK", help="Search the inputs that show the misconceptions of a week."),
    ] = None,
) -> bool:
    """Generate the stubs in exercises/ from the solutions, and the figures in assets/.

    Example: autograder build --check
    """
    from ...authoring.lesson.figures import draw_figures, stale_figures
    from ...model.course.stubs import is_stale, stub_path, write_stub

    course = load(unfinished=True)
    if inputs is not None:
        from ...authoring.verify.bank_inputs import search_inputs

        print(f"wrote {search_inputs(course, course.week(inputs)).relative_to(course.root)}")
        return True
    stale = [week for week in course.weeks if is_stale(course, week)]
    for week in stale:
        path = (stub_path if check else write_stub)(course, week).relative_to(course.root)
        print(f"{path} is stale: run `autograder build`" if check else f"wrote {path}")
    if not stale:
        print(f"{plural(len(course.weeks), 'stub')} up to date")
    if check:
        drawings = [p for week in course.weeks for p in stale_figures(course, week)]
        print("\n".join(drawings) or "the figures are up to date")
        return not (stale or drawings)
    for week in course.weeks if figures else ():
        for drawn in draw_figures(course, week):
            print(f"drew {drawn.relative_to(course.root)}")
    return True


def new(
    week: Annotated[
        str | None, Argument(help="An existing week, or the name of a new one: week08_topic.")
    ] = None,
    exercise: Annotated[str | None, Option(help="The exercise; default: the topic's name.")] = None,
    title: Annotated[
        str | None,
        Option("--course", help="Create a course with this title in the current folder."),
    ] = None,
    torch: Annotated[
        bool | None,
        Option(
            "--torch/--numpy",
            help="Libraries of a new week; default: those of the last week, or NumPy.",
        ),
    ] = None,
) -> None:
    """Create files with blanks to fill in, for an exercise in an existing or a new week.

    Example: autograder new week13_pooling --exercise mean_pool
    Example: autograder new --course "Linear models"
    """
    from ...authoring.scaffolding import PLACEHOLDER, add_exercise, new_course, new_week

    try:
        course = None if title is not None else load(unfinished=True)
    except NoCourse as error:
        raise NoCourse(f"{error}; to start a course in this folder, use --course TITLE") from None
    if week is None:
        if course is not None:
            raise KitError("name a week: `autograder new week08_topic`")
        week, exercise = "week01_basics", exercise or "centered"
    root = Path.cwd() if course is None else course.root
    added, quick = f"{week} to course.yaml: check its dates and", f"{week} --quick"
    if course is None:
        paths = new_course(root, str(title), week, exercise, torch)
    else:
        try:
            existing = course.week(week)
        except CourseError:
            paths = new_week(course, week, exercise, torch)
        else:
            if exercise is None:
                raise CourseError(f"{existing.name} exists: add an exercise with --exercise NAME")
            paths = add_exercise(course, existing, exercise)
            added = f"{exercise} to {existing.name} in course.yaml: check its"
            quick = f"{existing.name} --quick --only {exercise}"
    for path in paths:
        print(f"wrote {path.relative_to(root)}")
    print(f"added {added} points")
    print(f"Replace every {PLACEHOLDER}, then: autograder build && autograder verify {quick}")


def verify(
    weeks: Annotated[list[str] | None, Argument(help="Weeks; default: all.")] = None,
    quick: Annotated[bool, Option(help="Run without the sandbox: the bank is trusted.")] = False,
    device: DeviceOption = "auto",
    only: Annotated[
        str | None,
        Option(metavar="NAME", help="Only this exercise or misconception, or a test's exercise."),
    ] = None,
    watching: Annotated[bool, flag("watch", "Verify again after each save.")] = False,
    lesson: Annotated[bool, flag("lesson", "Also run the lessons with the solution.")] = False,
    fresh: Annotated[bool, flag("fresh", "Also verify parts that have not changed.")] = False,
    mutants: Annotated[bool, Option(help="Try edited solutions instead of the bank.")] = False,
    draws: Annotated[
        int,
        Option(
            min=0,
            help="Repeat with N sets of hidden inputs instead of this course's, to find checks "
            "that pass by luck. The sets are the same on every machine.",
        ),
    ] = 0,
    jobs: JobsOption = None,
) -> bool:
    """Check with each week's bank that graders and public checks are fair and strict.

    The bank contains correct programs, which must pass, and misconceptions, which must fail.

    Example: autograder verify week02 --quick
    Example: autograder verify --quick --only test_any_axis --watch
    """
    course = load()
    chosen = [course.week(w) for w in weeks] if weeks else list(course.weeks)
    if watching:
        _watch(course, chosen)
        return True
    if mutants:
        from .verification import run_mutants

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
    Terminal(soft_wrap=True).print(
        f"{plural(len(results), 'week')}, {plural(sum(r.tests for r in results), 'test')}, "
        f"{plural(sum(r.alternatives for r in results), 'alternative')}, "
        f"{plural(sum(len(r.rows) for r in results), 'misconception')}{repeated}: "
        f"{plural(gaps, 'gap')}"
    )
    return gaps == 0


def _watch(course: Course, weeks: list[Week]) -> None:
    """Run this command without `--watch` now and after each save, until `q` or Ctrl-C is typed."""
    from watchfiles import run_process

    paths = [course.root / "course.yaml"]
    for week in weeks:
        paths += [course.solution_folder(week), course.graders(week), course.exercise_folder(week)]
    command = [sys.executable, "-m", "autograder", *(a for a in sys.argv[1:] if a != "--watch")]
    # restore the default, because shells start background jobs with SIGINT ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with _stop_on_q(), suppress(KeyboardInterrupt):
        print("verifying again after each save; press q or Ctrl-C to stop", flush=True)
        run_process(
            *(p for p in paths if p.exists()),
            target=shlex.join(command),
            watch_filter=lambda change, path: path.endswith((".py", ".md", ".yaml")),
        )


@contextmanager
def _stop_on_q() -> Iterator[None]:
    """Interrupt this process when `q` is typed, if standard input is a terminal."""
    if not sys.stdin.isatty():
        yield
        return
    import termios
    import tty

    def wait() -> None:
        while key := os.read(descriptor, 1):
            if key == b"q":
                os.kill(os.getpid(), signal.SIGINT)

    descriptor = sys.stdin.fileno()
    settings = termios.tcgetattr(descriptor)
    tty.setcbreak(descriptor)
    Thread(target=wait, daemon=True).start()
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, settings)


def _print(result: Verification) -> None:
    console = Terminal(soft_wrap=True)
    headings = ("misconception", "exercise", "rejected by", "diagnosed as")
    table = new_table(*headings, title=result.week)
    for row in result.rows:
        tests = [t.split("::")[-1] for t in row.rejected_by]
        more = f" +{len(tests) - 3}" if len(tests) > 3 else ""
        rejected_by = ", ".join(tests[:3]) + more or "NOTHING"
        own = "itself" if row.diagnosed_as == (row.name,) else ", ".join(row.diagnosed_as)
        table.add_row(row.name, row.exercise, rejected_by, own or "-")
    console.print(table)
    if result.not_run:
        not_run = plural(len(result.not_run), "test")
        console.print(f"{not_run} cannot run on this machine", style="dim")
    for extra in result.lacking:
        console.print(f"not_run: exercises of {result.week} need {missing_in_words(extra)}")
    print_attention(result.gaps, "GAP")
