"""`autograder verify --mutants` on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

from ....authoring.verify.mutants import MutantOutcome, hunt
from ....files.secret import course_secret
from ....model.course.loader import Course, Week
from ....sandbox import choose
from ....terminal.console import bar, terminal


def run_hunt(course: Course, weeks: list[Week]) -> bool:
    """Hunt the weeks' mutants; return whether each was caught or is stated equivalent."""
    console = terminal(soft_wrap=True)
    sandbox, secret = choose(), course_secret(course)
    fine = True
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with bar(*columns) as progress:
        for week in weeks:
            task = progress.add_task(week.name, total=None)
            seen: list[MutantOutcome] = []

            def shown(
                outcome: MutantOutcome, seen: list[MutantOutcome] = seen, week: Week = week
            ) -> None:
                seen.append(outcome)
                alive = sum(not o.caught_by for o in seen)
                text = f"{week.name}: {len(seen)} mutants, {alive} alive"
                progress.update(progress.task_ids[-1], description=text)

            outcomes = hunt(course, week, secret, sandbox, shown)
            progress.remove_task(task)
            fine &= _print(console, week, outcomes)
    return fine


def _print(console: Console, week: Week, outcomes: list[MutantOutcome]) -> bool:
    alive = [o for o in outcomes if not o.caught_by]
    equivalent = [o for o in alive if o.excuse]
    holes = [o for o in alive if not o.excuse]
    real = len(outcomes) - len(equivalent)
    rate = 100 * (real - len(holes)) / max(real, 1)
    console.print(
        f"{week.name}: {len(outcomes)} mutants, {len(equivalent)} equivalent, "
        f"{real - len(holes)} of {real} others caught ({rate:.1f} %)"
    )
    for outcome in equivalent:
        console.print(f"  same     {outcome.mutant.label}  ({outcome.excuse})")
    for outcome in holes:
        line = outcome.mutant.line
        console.print(f"  SURVIVES {outcome.mutant.label}  (line {line})")
    return not holes
