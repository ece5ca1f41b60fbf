"""Verify weeks, several parts at once."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cached_property

from rich.progress import MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

from ...authoring.verify.hidden_tests import WHOLE
from ...authoring.verify.proofs import (
    LESSON,
    PUBLIC,
    ProofJob,
    cost,
    run_job,
    store_result,
    stored_result,
)
from ...authoring.verify.week_parts import Selection, Verification, combine_draws
from ...batch.pool import process_pool
from ...files import course_secret, public_draw
from ...model.availability import axis
from ...model.course import Course, Week
from ...model.errors import EngineError
from ...sandbox import choose
from ...terminal.console import bar

_PROCESS_WEIGHT = 50  # cost of jobs (authoring/verify/proofs.py) that pays for a process


@dataclass(frozen=True)
class Verify:
    """A request to verify weeks.

    draws: number of sets of hidden inputs; 0: only this course's own. aims: parts of the weeks, or
    all if empty. fresh: ignore cached results. public: only the public checks.
    """

    course: Course
    weeks: list[Week]
    quick: bool = True
    device: str = "auto"
    draws: int = 0
    jobs: int | None = None
    lesson: bool = False
    aims: tuple[Selection, ...] = ()
    fresh: bool = False
    public: bool = False

    @cached_property
    def sandbox(self) -> str:
        return "" if self.quick else choose().name

    @cached_property
    def secrets(self) -> list[bytes]:
        return [public_draw(n) for n in range(self.draws)] or [course_secret(self.course)]

    def proofs(self, week: Week) -> list[ProofJob]:
        """Return the parts of a week: the public checks once, the rest once per draw."""
        root, devices = str(self.course.root), axis(self.device)
        cached = not self.fresh and not self.draws

        def proof(part: str, secret: bytes = b"", only: str = "") -> ProofJob:
            return ProofJob(root, week.name, part, devices, secret, self.sandbox, only, cached)

        if self.aims:
            aims = [a for a in self.aims if a.week == week.name]
            whole = {a.exercise for a in aims if not a.misconception}
            found = [proof(a.exercise, s, a.misconception) for a in aims for s in self.secrets]
            return found + [proof(PUBLIC, only=exercise) for exercise in sorted(whole)]
        if self.public:
            return [proof(PUBLIC)]
        parts = (WHOLE, *(e.name for e in week.exercises))
        found = [proof(part, s) for s in self.secrets for part in parts]
        return [*found, proof(PUBLIC), *([proof(LESSON)] if self.lesson else [])]


def verified(
    verify: Verify, on_week: Callable[[Verification], None] = lambda result: None
) -> list[Verification]:
    """Verify each week, showing a progress bar, and return the results."""
    work = {week.name: verify.proofs(week) for week in verify.weeks}
    every = [p for proofs in work.values() for p in proofs]
    results: dict[ProofJob, Verification] = {}
    for proof in every if not verify.fresh else ():
        if (known := stored_result(verify.course, proof)) is not None:
            results[proof] = known
    left = [p for p in every if p not in results]
    columns = SpinnerColumn(), TextColumn("{task.description}"), MofNCompleteColumn()
    weeks = []
    with bar(*columns, TimeElapsedColumn()) as progress:
        task = progress.add_task("", total=len(left))

        def describe(text: str) -> None:
            progress.update(task, description=text)

        result_of = _start(verify, left, describe)
        for week in verify.weeks:
            describe(week.name)
            for proof in work[week.name]:
                if proof in results:
                    continue
                results[proof] = result_of(proof)
                store_result(verify.course, proof, results[proof])
                progress.advance(task)
            weeks.append(_combined(verify, week, {p: results[p] for p in work[week.name]}))
            on_week(weeks[-1])
    return weeks


def _combined(verify: Verify, week: Week, results: dict[ProofJob, Verification]) -> Verification:
    draws = []
    for secret in verify.secrets:
        draws.append(Verification(week.name))
        for proof, result in results.items():
            if proof.secret == secret:
                draws[-1].add(result)
    combined = combine_draws(draws)
    for proof, result in results.items():
        if not proof.secret:
            combined.add(result)
    return combined


def _start(
    verify: Verify, left: list[ProofJob], describe: Callable[[str], None]
) -> Callable[[ProofJob], Verification]:
    """Start the proofs, longest first; return a function that waits for a proof's result."""
    count = min(verify.jobs or os.cpu_count() or 1, len(left))
    weights = {p: cost(verify.course, p) for p in left}
    if verify.jobs is None:  # a new process takes as long as importing torch
        count = min(count, sum(weights.values()) // _PROCESS_WEIGHT)
    if count <= 1:

        def run_here(proof: ProofJob) -> Verification:
            describe(f"{proof.week}: {proof.part}")
            return run_job(proof)

        return run_here
    pool = process_pool(count)
    futures = {p: pool.submit(run_job, p) for p in sorted(left, key=lambda p: -weights[p])}

    def result_of(proof: ProofJob) -> Verification:
        future = futures.pop(proof)
        try:
            return future.result()
        except BrokenProcessPool as error:
            raise EngineError(
                "a verification process died: `--jobs 1` shows at which part of the bank"
            ) from error
        finally:
            if not futures:
                pool.shutdown(cancel_futures=True)

    return result_of
