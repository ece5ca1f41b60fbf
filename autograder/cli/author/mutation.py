"""`autograder verify --mutants`: check that small edits of the solutions are rejected."""

from __future__ import annotations

from ...authoring.verify.mutants import MutantOutcome, hunt
from ...files import course_secret
from ...model.course import Course, Week
from ...sandbox import choose
from ...terminal.console import terminal


def run_mutants(course: Course, weeks: list[Week]) -> bool:
    """Grade the weeks' mutants; return True if each is rejected or declared equivalent."""
    sandbox, secret = choose(), course_secret(course)
    all_rejected = True
    for week in weeks:
        outcomes: list[MutantOutcome] = []
        with terminal(stderr=True).status(week.name) as status:
            for outcome in hunt(course, week, secret, sandbox):
                outcomes.append(outcome)
                alive = sum(not o.caught_by for o in outcomes)
                status.update(f"{week.name}: {len(outcomes)} mutants, {alive} alive")
        all_rejected &= _print(week, outcomes)
    return all_rejected


def _print(week: Week, outcomes: list[MutantOutcome]) -> bool:
    console = terminal(soft_wrap=True)
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
