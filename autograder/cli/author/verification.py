"""Verify weeks with their banks in parallel processes, or with mutants of their solutions."""

import os
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from functools import cached_property

import msgspec
from rich.progress import MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

from ...authoring.verify.hidden_tests import WHOLE
from ...authoring.verify.mutants import MutantOutcome, hunt
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
from ...sandbox import Sandbox, choose
from ...terminal.console import Terminal, bar

_PROCESS_WEIGHT = 50  # total cost of jobs that justifies starting another process


class Verify(msgspec.Struct, frozen=True, dict=True):  # a dict for cached properties
    """The options of `autograder verify`.

    draws: number of sets of hidden inputs; 0: use only the inputs of this course.
    aims: selected parts of the weeks; if empty, everything is verified.
    fresh: ignore cached results.
    public: run only the public checks.
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
        """Return a week's jobs: hidden tests once per draw, public checks and the lesson once."""
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
    """Verify the weeks and return their results. `on_week`: called with the result of each week."""
    work = {week.name: verify.proofs(week) for week in verify.weeks}
    every = [p for proofs in work.values() for p in proofs]
    results: dict[ProofJob, Verification] = {}
    for proof in every if not verify.fresh else ():
        if (known := stored_result(verify.course, proof)) is not None:
            results[proof] = known
    left = [p for p in every if p not in results]
    columns = SpinnerColumn(), TextColumn("{task.description}"), MofNCompleteColumn()
    weeks = []
    progress = bar(*columns, TimeElapsedColumn())
    task = progress.add_task("", total=len(left))

    def describe(text: str) -> None:
        progress.update(task, description=text)

    result_of = _start(verify, left, describe)
    with progress:  # starts a thread
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
    verify: Verify, jobs: list[ProofJob], describe: Callable[[str], None]
) -> Callable[[ProofJob], Verification]:
    """Start the jobs, longest first; return a function that waits for the result of a job."""
    count = min(verify.jobs or os.cpu_count() or 1, len(jobs))
    weights = {p: cost(verify.course, p) for p in jobs}
    if verify.jobs is None:  # starting a process is slow, because it imports torch
        count = min(count, sum(weights.values()) // _PROCESS_WEIGHT)
    if count <= 1:

        def run_here(proof: ProofJob) -> Verification:
            describe(f"{proof.week}: {proof.part}")
            return run_job(proof)

        return run_here
    pool = process_pool(count)
    futures = {p: pool.submit(run_job, p) for p in sorted(jobs, key=lambda p: -weights[p])}

    def result_of(proof: ProofJob) -> Verification:
        future = futures.pop(proof)
        try:
            return future.result()
        except BrokenProcessPool as error:
            raise EngineError(
                "a verification process died: run the command with `--jobs 1`, which shows the "
                "part of the bank that ends the process"
            ) from error
        finally:
            if not futures:
                pool.shutdown(cancel_futures=True)

    return result_of


def run_mutants(course: Course, weeks: list[Week]) -> bool:
    """Grade the weeks' mutants; return True if each is rejected or declared equivalent."""
    sandbox, secret = choose(), course_secret(course)
    results = [_run_mutants_of(week, course, secret, sandbox) for week in weeks]
    return all(results)


def _run_mutants_of(week: Week, course: Course, secret: bytes, sandbox: Sandbox) -> bool:
    console, found = Terminal(soft_wrap=True), list[MutantOutcome]()
    with Terminal(stderr=True).status(week.name) as status:
        for outcome in hunt(course, week, secret, sandbox):
            found.append(outcome)
            surviving = sum(not o.caught_by for o in found)
            status.update(f"{week.name}: {len(found)} mutants, {surviving} alive")
    alive = [o for o in found if not o.caught_by]
    equivalent = [o for o in alive if o.excuse]
    survivors = [o for o in alive if not o.excuse]
    real = len(found) - len(equivalent)
    rejected = real - len(survivors)
    console.print(
        f"{week.name}: {len(found)} mutants, {len(equivalent)} equivalent, "
        f"{rejected} of {real} others caught ({100 * rejected / max(real, 1):.1f} %)"
    )
    for outcome in equivalent:
        console.print(f"  same     {outcome.mutant.label}  ({outcome.excuse})")
    for outcome in survivors:
        console.print(f"  SURVIVES {outcome.mutant.label}  (line {outcome.mutant.line})")
    return not survivors
