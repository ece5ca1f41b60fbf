"""`autograder verify` on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..course import Course, Week
from ..devices import axis
from ..sandbox import choose
from ..secret import course_secret
from ..verify import Verification, verify_week


def run_verification(course: Course, weeks: list[Week], *, quick: bool, device: str) -> bool:
    """Verify the weeks, print their tables, and say whether there is no gap."""
    console = Console(soft_wrap=True)
    sandbox = None if quick else choose()
    devices, secret = axis(device), course_secret(course)
    results = []
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        for week in weeks:
            task = progress.add_task(week.name, total=None)

            def shown(name: str, task: TaskID = task, week: Week = week) -> None:
                progress.update(task, description=f"{week.name}: {name}")

            result = verify_week(
                course,
                week,
                devices,
                secret,
                sandbox,
                shown,
            )
            progress.remove_task(task)
            _print(console, result)
            results.append(result)
    gaps = sum(len(r.gaps) for r in results)
    misconceptions = sum(len(r.rows) for r in results)
    console.print(
        f"{len(results)} weeks, {sum(r.tests for r in results)} tests, "
        f"{sum(r.alternatives for r in results)} alternatives, {misconceptions} misconceptions: "
        f"{gaps} gaps"
    )
    return gaps == 0


def _print(console: Console, result: Verification) -> None:
    table = Table(title=result.week, title_justify="left", show_lines=False)
    for heading in ("misconception", "exercise", "rejected by", "diagnosed as"):
        table.add_column(heading, overflow="fold")
    for row in result.rows:
        tests = [t.split("::")[-1] for t in row.rejected_by]
        shown = ", ".join(tests[:3]) + (f" +{len(tests) - 3}" if len(tests) > 3 else "")
        table.add_row(
            row.name, row.exercise, shown or "NOTHING", ", ".join(row.diagnosed_as) or "-"
        )
    console.print(table)
    if result.not_run:
        console.print(f"not run on this machine: {len(result.not_run)} tests", style="dim")
    for gap in result.gaps:
        console.print(f"GAP  {gap}", markup=False)
