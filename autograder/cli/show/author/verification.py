"""`autograder verify` on a terminal."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cached_property

from rich.console import Console
from rich.progress import MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from ....authoring.verify.proof import Verification, of_all_draws
from ....authoring.verify.proof_cache import LESSON, PUBLIC, ProofBook
from ....authoring.verify.proof_job import Proof, prove, weight
from ....authoring.verify.prover import WHOLE
from ....authoring.verify.selection import Aim
from ....batch.pool import process_pool
from ....files.secret import course_secret, public_draw
from ....model.course.loader import Course, Week
from ....model.device_axes import axis
from ....model.errors import EngineError
from ....model.extras import missing_in_words
from ....sandbox import choose
from ....terminal.console import bar, terminal

_WORTH = 50  # of the weights in authoring/verify/proof_job.py: what a process of its own is worth
_LOOKS = 0.1  # seconds between two looks whether anybody still waits


@dataclass(frozen=True)
class Wanted:
    """What is to be proven, and how.

    draws: how many other sets of hidden inputs; 0: this course's own alone.
    aims: parts of the weeks, if not all. fresh: also what was proven before.
    public: only what students get.
    """

    course: Course
    weeks: list[Week]
    quick: bool = True
    device: str = "auto"
    draws: int = 0
    jobs: int | None = None
    lesson: bool = False
    aims: tuple[Aim, ...] = ()
    fresh: bool = False
    public: bool = False

    @cached_property
    def sandbox(self) -> str:
        return "" if self.quick else choose().name

    @cached_property
    def secrets(self) -> list[bytes]:
        return [public_draw(n) for n in range(self.draws)] or [course_secret(self.course)]

    def proofs(self, week: Week) -> list[Proof]:
        """The parts of a week: of what students get once, of the rest once per draw."""
        root, devices = str(self.course.root), axis(self.device)
        keeps = not self.fresh and not self.draws  # other draws are no course's own

        def proof(part: str, secret: bytes = b"", aim: Aim | None = None) -> Proof:
            return Proof(root, week.name, part, devices, secret, self.sandbox, aim, keeps)

        aims = [a for a in self.aims if a.week == week.name]
        if self.aims:
            parts_of = {a: None if not (a.misconception or a.test) else a for a in aims}
            found = [
                proof(a.exercise, s, part) for a, part in parts_of.items() for s in self.secrets
            ]
            whole = {a.exercise for a in aims if not a.misconception and not a.test}
            return found + [proof(PUBLIC, aim=Aim(week.name, e)) for e in sorted(whole)]
        if self.public:
            return [proof(PUBLIC)]
        parts = (WHOLE, *(e.name for e in week.exercises))
        found = [proof(part, s) for s in self.secrets for part in parts]
        return [*found, proof(PUBLIC), *([proof(LESSON)] if self.lesson else [])]


class Abandoned(Exception):
    """Nobody waits for the rest of a proof."""


def run_verification(
    wanted: Wanted, pool: Executor | None = None, given_up: Callable[[], bool] = lambda: False
) -> bool:
    """Verify the weeks, print their tables, and say whether there is no gap.

    given_up: asked now and then while a pool is at work; raises Abandoned where it says so.
    """
    console = terminal(soft_wrap=True)
    results = proven(wanted, lambda result: _print(console, result), pool, given_up)
    gaps = sum(len(r.gaps) for r in results)
    misconceptions = sum(len(r.rows) for r in results)
    console.print(
        f"{len(results)} week{'' if len(results) == 1 else 's'}, "
        f"{sum(r.tests for r in results)} tests, "
        f"{sum(r.alternatives for r in results)} alternatives, {misconceptions} misconceptions"
        + (f", {wanted.draws} draws: " if wanted.draws > 1 else ": ")
        + f"{gaps} gaps"
    )
    return gaps == 0


def proven(
    wanted: Wanted,
    on_week: Callable[[Verification], None] = lambda result: None,
    pool: Executor | None = None,
    given_up: Callable[[], bool] = lambda: False,
) -> list[Verification]:
    """The proof of each week, with a bar while it is on its way."""
    work = {week.name: wanted.proofs(week) for week in wanted.weeks}
    known = {p: v for proofs in work.values() for p in proofs if (v := _recalled(wanted, p))}
    left = [p for proofs in work.values() for p in proofs if p not in known]
    columns = SpinnerColumn(), TextColumn("{task.description}"), MofNCompleteColumn()
    results = []
    with bar(*columns, TimeElapsedColumn()) as progress:
        task = progress.add_task("", total=len(left))

        def tell(text: str) -> None:
            progress.update(task, description=text)

        found = _found(wanted, left, tell, pool, given_up)
        for week in wanted.weeks:
            tell(week.name)
            for proof in (p for p in work[week.name] if p not in known):
                known[proof] = found(proof)
                if (name := _name(proof)) is not None:
                    _book(wanted, proof).keep(name, known[proof])
                progress.advance(task)
            results.append(_together(wanted, week, known, work[week.name]))
            on_week(results[-1])
    return results


def _together(
    wanted: Wanted, week: Week, known: dict[Proof, Verification], proofs: list[Proof]
) -> Verification:
    draws = []
    for secret in wanted.secrets:
        draws.append(Verification(week.name))
        for proof in proofs:
            if proof.secret == secret:
                draws[-1].add(known[proof])
    result = of_all_draws(draws)
    for proof in proofs:
        if not proof.secret:
            result.add(known[proof])
    return result


def _book(wanted: Wanted, proof: Proof) -> ProofBook:
    week = wanted.course.week(proof.week)
    return ProofBook(wanted.course, week, proof.devices, proof.secret, proof.sandbox)


def _recalled(wanted: Wanted, proof: Proof) -> Verification | None:
    name = _name(proof)
    return _book(wanted, proof).recall(name) if name is not None and not wanted.fresh else None


def _name(proof: Proof) -> str | None:
    """What the book calls a proof; None if it keeps none of its kind."""
    if proof.aim is None:
        return proof.part
    return f"{PUBLIC}-{proof.aim.exercise}" if proof.part == PUBLIC else None


def _found(
    wanted: Wanted,
    left: list[Proof],
    tell: Callable[[str], None],
    pool: Executor | None,
    given_up: Callable[[], bool],
) -> Callable[[Proof], Verification]:
    """What gives the result of each proof; several run at once, the longest begun first."""
    count = min(wanted.jobs or os.cpu_count() or 1, len(left))
    if wanted.jobs is None:  # another process costs what importing torch costs
        count = min(count, sum(weight(wanted.course, p) for p in left) // _WORTH)
    if pool is None and count <= 1:
        return lambda proof: prove(proof, tell)
    side = _Side(wanted.course, left, pool or process_pool(count), pool is None, given_up)
    return side.result


class _Side:
    """Proofs side by side in a pool."""

    def __init__(
        self,
        course: Course,
        proofs: list[Proof],
        pool: Executor,
        own: bool,
        given_up: Callable[[], bool],
    ) -> None:
        self._pool, self._own, self._given_up = pool, own, given_up
        ordered = sorted(proofs, key=lambda p: -weight(course, p))
        self._futures: dict[Proof, Future[Verification]] = {
            proof: pool.submit(prove, proof) for proof in ordered
        }

    def result(self, proof: Proof) -> Verification:
        future = self._futures.pop(proof)
        try:
            while not wait([future], timeout=_LOOKS).done:
                if self._given_up():
                    for left in self._futures.values():
                        left.cancel()
                    raise Abandoned
            return future.result()
        except BrokenProcessPool as error:
            raise EngineError(
                "a process died over a proof: `--jobs 1` shows over which part of the bank"
            ) from error
        finally:
            if not self._futures and self._own:
                self._pool.shutdown(cancel_futures=True)


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
