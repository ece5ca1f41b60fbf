"""`autograder verify` on a terminal."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from rich.console import Console
from rich.progress import MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from ...authoring.verify import Verification, of_all_draws, verify_week
from ...batch.pool import process_pool
from ...files.secret import course_secret, public_draw
from ...model.axes import axis
from ...model.course import Course, Week, load
from ...model.errors import EngineError
from ...model.extras import missing_in_words
from ...sandbox import BACKENDS, choose
from ...terminal.console import bar, terminal

# What a proof is of: the week, and the secret its hidden inputs are drawn with.
Proof = tuple[Week, bytes]


def run_verification(
    course: Course, weeks: list[Week], *, quick: bool, device: str, draws: int, jobs: int | None
) -> bool:
    """Verify the weeks, print their tables, and say whether there is no gap.

    draws: how many other sets of hidden inputs; 0: this course's own alone.
    """
    console = terminal(soft_wrap=True)
    backend = None if quick else choose().name
    secrets = [public_draw(n) for n in range(draws)] or [course_secret(course)]
    proofs = [(week, secret) for week in weeks for secret in secrets]
    count = max(1, min(jobs or os.cpu_count() or 1, len(proofs)))
    results = []
    columns = SpinnerColumn(), TextColumn("{task.description}"), MofNCompleteColumn()
    shown = bar(*columns, TimeElapsedColumn())
    with shown as progress:
        task = progress.add_task("", total=len(proofs))

        def tell(text: str) -> None:
            progress.update(task, description=text)

        found = _found(course, proofs, axis(device), backend, count, tell)
        for _ in weeks:
            of_week = []
            for _ in secrets:
                of_week.append(next(found))
                progress.advance(task)
            results.append(of_all_draws(of_week))
            _print(console, results[-1])
    gaps = sum(len(r.gaps) for r in results)
    misconceptions = sum(len(r.rows) for r in results)
    console.print(
        f"{len(results)} weeks, {sum(r.tests for r in results)} tests, "
        f"{sum(r.alternatives for r in results)} alternatives, {misconceptions} misconceptions"
        + (f", {draws} draws: " if draws > 1 else ": ")
        + f"{gaps} gaps"
    )
    return gaps == 0


def _found(
    course: Course,
    proofs: list[Proof],
    devices: tuple[str, ...],
    backend: str | None,
    count: int,
    tell: Callable[[str], None],
) -> Iterator[Verification]:
    """The result of each proof, in order; several run at once."""
    if count == 1:
        for week, secret in proofs:
            tell(week.name)
            yield _prove(course.root, week.name, devices, secret, backend, tell)
        return
    pool = process_pool(count)
    try:
        futures = [
            pool.submit(_prove, course.root, week.name, devices, secret, backend)
            for week, secret in proofs
        ]
        for (week, _), future in zip(proofs, futures, strict=True):
            tell(week.name)
            yield future.result()
    except BrokenProcessPool as error:
        raise EngineError(
            "a process died over a proof: `--jobs 1` shows over which part of the bank"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _prove(
    root: Path,
    name: str,
    devices: tuple[str, ...],
    secret: bytes,
    backend: str | None,
    tell: Callable[[str], None] | None = None,
) -> Verification:
    course = load(root)
    box = BACKENDS[backend]() if backend else None  # tried by whoever chose it

    def said(part: str) -> None:
        if tell:
            tell(f"{name}: {part}")

    return verify_week(course, course.week(name), devices, secret, box, said)


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
    for extra in result.lacking:
        console.print(f"not_run: exercises of {result.week} need {missing_in_words(extra)}")
    for gap in result.gaps:
        console.print(f"GAP  {gap}")
