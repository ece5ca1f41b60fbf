"""Proving a week's graders fair and sharp.

The stub earns nothing, the solution and every alternative everything; each misconception is
rejected by the test that it names and diagnosed as itself; in the sandbox none of them looks like
an attempt to get around the grading; no exercise lacks a misconception, no test lets all of them
pass, each written question says how it is marked, and nothing of a new week is left blank. Proven
with several draws of the hidden inputs, it does not hold by luck.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..grading.warm import warm_engine
from ..model.bank import Bank, Misconception
from ..model.course import Course, Week
from ..model.extras import installed
from ..model.report import ExerciseReport, SubmissionReport, base_of
from ..model.stubs import stub_of
from ..model.verdicts import Ending, Verdict
from ..sandbox import Sandbox
from .answers import answers_problems
from .new import blanks
from .syllabus import syllabus_problems

if TYPE_CHECKING:
    from ..grading.engine import Engine  # torch, which `warm_engine` imports beside the template

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Row:
    """One misconception: which tests reject it, and what it is diagnosed as."""

    name: str
    exercise: str
    rejected_by: tuple[str, ...]
    diagnosed_as: tuple[str, ...]


@dataclass
class Verification:
    """What was proven of a week, and the gaps."""

    week: str
    alternatives: int = 0
    tests: int = 0
    rows: list[Row] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    not_run: set[str] = field(default_factory=set)
    lacking: tuple[str, ...] = ()  # extras that are not installed: their exercises prove nothing


def of_all_draws(results: Sequence[Verification]) -> Verification:
    """What a week's verifications with several draws, in their order, prove together.

    A misconception is rejected by the tests that reject it in every draw. A gap of some draws
    alone says so: what the others prove there, they prove by luck.
    """
    first, draws = results[0], len(results)
    gaps = Counter(gap for result in results for gap in dict.fromkeys(result.gaps))
    together = Verification(first.week, first.alternatives, first.tests, lacking=first.lacking)
    together.not_run = set().union(*(r.not_run for r in results))
    for gap, times in gaps.items():
        which = next(n for n, r in enumerate(results, start=1) if gap in r.gaps)
        seldom = f" (in {times} of {draws} draws, first in draw {which})"
        together.gaps.append(gap if times == draws else gap + seldom)
    for name in dict.fromkeys(row.name for result in results for row in result.rows):
        rows = [row for result in results for row in result.rows if row.name == name]
        rejected = (t for t in rows[0].rejected_by if all(t in r.rejected_by for r in rows))
        diagnosed = dict.fromkeys(d for r in rows for d in r.diagnosed_as)
        together.rows.append(Row(name, rows[0].exercise, tuple(rejected), tuple(diagnosed)))
    return together


def verify_week(
    course: Course,
    week: Week,
    devices: tuple[str, ...],
    secret: bytes,
    sandbox: Sandbox | None,
    progress: Progress = lambda _: None,
) -> Verification:
    """Run the whole bank of a week; without a sandbox in this process (the code is ours)."""
    engine = warm_engine(course, week, devices, secret, sandbox)
    try:
        result = Verification(week.name, tests=len(engine.runs.items))
        result.gaps += _grade_right_ones(course, week, engine, result, progress)
        failed: set[str] = set()
        missing = {e.name for e in week.exercises if e.extra and not installed(e.extra)}
        result.lacking = tuple(sorted({str(week.exercise(name).extra) for name in missing}))
        for misconception in engine.bank.misconceptions:
            if misconception.exercise in missing:
                continue
            progress(misconception.name)
            report = engine.grade(
                misconception.name, _files(week, misconception.source), misconception.exercise
            )
            result.gaps += _judge(week, misconception, report, result, failed)
        result.gaps += _coverage(week, engine, failed, missing)
        result.gaps += _lone_beliefs(engine.bank)
        result.gaps += answers_problems(course, week)
        result.gaps += syllabus_problems(course, week)
        result.gaps += [f"{place} is not filled in yet" for place in blanks(course, week)]
        return result
    finally:
        engine.close()


def _files(week: Week, source: str) -> dict[str, bytes]:
    return {week.module: source.encode()}


def _grade_right_ones(
    course: Course, week: Week, engine: Engine, result: Verification, progress: Progress
) -> Iterator[str]:
    bank: Bank = engine.bank
    progress("stub")
    stub = engine.grade("stub", _files(week, stub_of(course, week)))
    yield from _faults("the stub", stub)
    for exercise in stub.exercises:
        if exercise.score:
            passed = [t.name for t in exercise.tests if t.verdict is Verdict.PASS]
            yield f"the stub earns points for {exercise.name}: {passed[0]} passes"
    right = [("the solution", bank.solution)]
    right += [(f"alternative {a.name}", a.source) for a in bank.alternatives]
    result.alternatives = len(bank.alternatives)
    if not bank.alternatives:
        yield "there is no alternative: nothing shows that another style gets full marks"
    for name, source in right:
        progress(name)
        report = engine.grade(name, _files(week, source))
        yield from _faults(name, report)
        for exercise in report.exercises:
            for test in exercise.tests:
                if test.verdict is Verdict.NOT_RUN:
                    result.not_run.add(test.name)
                elif test.verdict is not Verdict.PASS:
                    yield f"{name} fails {test.name}: {test.verdict}: {test.message}"


def _faults(name: str, report: SubmissionReport) -> Iterator[str]:
    if report.verdict is not Ending.GRADED:
        yield f"{name}: {report.verdict}: {report.message}"
    if report.attempts:
        tried = ", ".join(report.attempts)
        yield f"{name} looks like an attempt to get around the grading: {tried}"


def _judge(
    week: Week,
    misconception: Misconception,
    report: SubmissionReport,
    result: Verification,
    failed: set[str],
) -> Iterator[str]:
    name = misconception.name
    if misconception.cost is None:
        yield f"misconception {name} does not say what it costs: add a line such as `Costs: 20 %`"
    yield from _faults(f"misconception {name}", report)
    own = _exercise(report, misconception.exercise)
    if own is None:
        return
    rejected = [t.name for t in own.tests if t.verdict.failed]
    failed.update(base_of(t) for t in rejected)
    functions = tuple(dict.fromkeys(base_of(t) for t in rejected))
    result.rows.append(Row(name, own.name, functions, own.diagnosis))
    if not rejected:
        yield f"misconception {name} survives: every test of {own.name} passes"
        return
    if misconception.rejected_by not in {f.split("::")[-1] for f in functions}:
        yield (
            f"misconception {name} is not rejected by {misconception.rejected_by}, "
            f"but by {', '.join(f.split('::')[-1] for f in functions[:4])}"
        )
    expected = {name, *misconception.same_as}
    if not own.diagnosis or own.diagnosis[0] not in expected:
        shown = ", ".join(own.diagnosis) or "nothing"
        yield f"misconception {name} is diagnosed as {shown}"


def _exercise(report: SubmissionReport, name: str) -> ExerciseReport | None:
    return next((e for e in report.exercises if e.name == name), None)


def _lone_beliefs(bank: Bank) -> Iterator[str]:
    """A key that only one file has charges nothing once: it is misspelt, or not needed."""
    beliefs = Counter(m.belief for m in bank.misconceptions if m.belief)
    for misconception in bank.misconceptions:
        if beliefs[misconception.belief] == 1:
            yield (
                f"misconception {misconception.name} is the only one with the belief "
                f"{misconception.belief!r}: is it misspelt?"
            )


def _coverage(week: Week, engine: Engine, failed: set[str], missing: set[str]) -> Iterator[str]:
    for exercise in week.exercises:
        if not engine.bank.of_exercise(exercise.name):
            yield f"{exercise.name} has no misconception"
    ran = (i for i in engine.runs.items if i.path.stem.removeprefix("test_") not in missing)
    functions = dict.fromkeys(f"{i.path.name}::{i.originalname}" for i in ran)
    for function in functions:
        if function not in failed:
            yield f"{function} proves nothing: no misconception fails it"
