"""`autograder verify --mutants`: check that small edits of the solutions are rejected."""

from __future__ import annotations

from rich.console import Console
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

from ...authoring.verify.mutants import MutantOutcome, hunt
from ...files.secret import course_secret
from ...model.course import Course, Week
from ...sandbox import choose
from ...terminal.console import bar, terminal


def run_mutants(course: Course, weeks: list[Week]) -> bool:
    """Try the weeks' mutants; return whether each is rejected or stated to be equivalent."""
    console = terminal(soft_wrap=True)
    sandbox, secret = choose(), course_secret(course)
    all_rejected = True
    with bar(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()) as progress:
        for week in weeks:
            task = progress.add_task(week.name, total=None)
            counts = {"mutants": 0, "alive": 0}

            def on_outcome(
                outcome: MutantOutcome, counts: dict[str, int] = counts, week: Week = week
            ) -> None:
                counts["mutants"] += 1
                counts["alive"] += not outcome.caught_by
                text = f"{week.name}: {counts['mutants']} mutants, {counts['alive']} alive"
                progress.update(progress.task_ids[-1], description=text)

            outcomes = hunt(course, week, secret, sandbox, on_outcome)
            progress.remove_task(task)
            all_rejected &= _print(console, week, outcomes)
    return all_rejected


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
        console.print(f"  SURVIVES {outcome.mutant.label}  (line {outcome.mutant.line})")
    return not holes
