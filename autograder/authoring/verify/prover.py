"""Proving a week's graders fair and sharp.

The stub earns nothing, no trivial program more than a tenth of an exercise, and the solution and
every alternative everything; each misconception is rejected by the test that it names and diagnosed
as itself; in the sandbox none of them looks like an attempt to get around the grading; no exercise
lacks a misconception, no test lets all of them pass, each written question says how it is marked,
and nothing of a new week is left blank. Proven with several draws of the hidden inputs, it does not
hold by luck.

A proof has parts that can be had side by side, and again one by one: each exercise, and what is of
the week as a whole. What students get is proven in publicside.py and lessonrun.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from ...grading.warmup import warm_engine
from ...model.course.bank import Bank, Misconception
from ...model.course.loader import Course, Week
from ...model.course.stubs import stub_of, stub_path
from ...model.extras import installed
from ...model.report.schema import ExerciseReport, SubmissionReport, base_of
from ...model.report.verdicts import Ending, Verdict
from ...sandbox import Sandbox
from ..lesson.marking_guide import answers_problems
from ..lesson.syllabus import syllabus_problems
from ..new.new_week import blanks
from .proof import Row, Verification
from .selection import Aim
from .undefined_names import strange_names

if TYPE_CHECKING:
    from ...grading.engine import Engine  # torch, which `warm_engine` imports beside the template

_MOST_FOR_NOTHING = 0.1  # of an exercise's points
WHOLE = ""  # the part of a proof that is of no exercise
Progress = Callable[[str], None]


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
        result = Verification(week.name)
        for part in (WHOLE, *(e.name for e in week.exercises)):
            result.add(verify_part(engine, part, progress))
        return result
    finally:
        engine.close()


def verify_part(
    engine: Engine, part: str, progress: Progress = lambda _: None, aim: Aim | None = None
) -> Verification:
    """One exercise, or what is of the week as a whole; as far as `aim` asks for it."""
    result = Verification(engine.week.name, alternatives=len(engine.bank.alternatives))
    if part == WHOLE:
        result.gaps += _of_the_week(engine, progress)
    elif aim is not None and aim.test:
        result.gaps += _one_test(engine, part, aim.test, result)
    else:
        _exercise_proven(engine, part, aim, result, progress)
    return result


def _of_the_week(engine: Engine, progress: Progress) -> Iterator[str]:
    progress("stub")
    course, week = engine.course, engine.week
    stub = engine.grade("stub", _files(week, stub_of(course, week)))
    if stub.verdict is not Ending.GRADER_FAULT or not _test_faults(engine):
        yield from _faults("the stub", stub)
    for exercise in stub.exercises:
        if exercise.score:
            passed = [t.name for t in exercise.tests if t.verdict is Verdict.PASS]
            yield f"the stub earns points for {exercise.name}: {passed[0]} passes"
    path = stub_path(course, week)
    if not path.is_file() or path.read_text(encoding="utf-8") != stub_of(course, week):
        where = path.relative_to(course.root)
        yield f"{where} is not what the solution makes: run `autograder build`"
    if not engine.bank.alternatives:
        yield "there is no alternative: nothing shows that another style gets full marks"
    yield from _lone_beliefs(engine.bank)
    yield from answers_problems(course, week)
    yield from syllabus_problems(course, week)
    yield from (f"{place} is not filled in yet" for place in blanks(course, week))


def _exercise_proven(
    engine: Engine, exercise: str, aim: Aim | None, result: Verification, progress: Progress
) -> None:
    week, failed = engine.week, set[str]()
    if faults := _test_faults(engine, exercise):
        result.gaps += faults  # nothing else is known of tests that cannot be run
        return
    bank, extra = engine.bank.of_exercise(exercise), week.exercise(exercise).extra
    missing = extra is not None and not installed(extra)
    if missing:
        result.lacking, bank = (str(extra),), ()
    chosen = [m for m in bank if aim is None or aim.misconception in ("", m.name)]
    if aim is None or not aim.misconception:
        result.tests = sum(r.startswith(f"test_{exercise}.py::") for r in engine.runs.names())
        result.gaps += _grade_right_ones(engine, exercise, result, progress)
        if not missing:
            result.gaps += _grade_trivial_ones(engine, exercise, progress)
    for misconception in chosen:
        progress(misconception.name)
        result.gaps += strange_names(engine.bank, misconception.name)
        report = engine.grade(misconception.name, _files(week, misconception.source), exercise)
        result.gaps += _judge(week, misconception, report, result, failed)
    if not missing and (aim is None or not aim.misconception):
        result.gaps += _coverage(engine, exercise, failed)


def _one_test(engine: Engine, exercise: str, test: str, result: Verification) -> Iterator[str]:
    """What a single test says to everything that is known of its exercise."""
    week, name = engine.week, f"test_{exercise}.py::{test}"
    if faults := [f for f in _test_faults(engine, exercise) if f.startswith(name)]:
        yield from faults
        return
    result.tests = sum(base_of(n) == name for n in engine.runs.names())

    def verdicts(source: str) -> list[tuple[str, Verdict, str]]:
        files = _files(week, source)
        target = engine.target(files)
        try:
            ran = engine.runs.run(target, tuple(source.split("\n")), exercise, files, only=name)
        finally:
            target.close()
        return [(r.report.name, r.report.verdict, r.report.message or r.fault) for r in ran]

    for found, verdict, _ in verdicts(stub_of(engine.course, week)):
        if verdict is Verdict.PASS:
            yield f"the stub passes {found}"
    for who, source in _right_ones(engine.bank):
        for found, verdict, message in verdicts(source):
            if verdict is Verdict.NOT_RUN:
                result.not_run.add(found)
            elif verdict is not Verdict.PASS:
                yield f"{who} fails {found}: {verdict}: {message}"
    rejects = False
    for m in engine.bank.of_exercise(exercise):
        rejected = any(verdict.failed for _, verdict, _ in verdicts(m.source))
        rejects = rejects or rejected
        if rejected:
            result.rows.append(Row(m.name, exercise, (name,), ()))
        elif m.rejected_by == test:
            yield f"misconception {m.name} is not rejected by {test}"
    if not rejects:
        yield f"{name} proves nothing: no misconception fails it"


def _test_faults(engine: Engine, exercise: str | None = None) -> list[str]:
    """What is wrong with tests themselves: they cannot be run on the solution. Once per test."""
    source = tuple(engine.bank.solution.split("\n"))
    with engine.runs.solution() as target:
        ran = engine.runs.run(target, source, exercise)
    return list({r.report.base: r.fault for r in reversed(ran) if r.fault}.values())[::-1]


def _right_ones(bank: Bank) -> list[tuple[str, str]]:
    right = [("the solution", bank.solution)]
    return right + [(f"alternative {a.name}", a.source) for a in bank.alternatives]


def _files(week: Week, source: str) -> dict[str, bytes]:
    return {week.module: source.encode()}


def _grade_right_ones(
    engine: Engine, exercise: str, result: Verification, progress: Progress
) -> Iterator[str]:
    for name, source in _right_ones(engine.bank):
        progress(name)
        report = engine.grade(name, _files(engine.week, source), exercise)
        yield from _faults(name, report)
        for test in (t for e in report.exercises for t in e.tests):
            if test.verdict is Verdict.NOT_RUN:
                result.not_run.add(test.name)
            elif test.verdict is not Verdict.PASS:
                yield f"{name} fails {test.name}: {test.verdict}: {test.message}"


def _grade_trivial_ones(engine: Engine, exercise: str, progress: Progress) -> Iterator[str]:
    """Report the trivial programs that earn more than a tenth of an exercise."""
    from ...grading.triviality.trivial_programs import (  # with torch, see above
        plain_calls,
        trivial_programs,
    )

    progress(f"{exercise}: trivial programs")
    programs = (*trivial_programs(engine.bank, exercise), *plain_calls(engine.bank, exercise))
    for kind, source in programs:
        report = engine.grade(kind, _files(engine.week, source), exercise)
        found = _exercise(report, exercise)
        if found is not None and found.score > _MOST_FOR_NOTHING * found.max_score:
            names = ", ".join(found.diagnosis) or "the tests that pass"
            yield (
                f"the trivial program `{kind}` earns {found.score:g} of {found.max_score:g} for "
                f"{exercise} by {names}: raise the costs to 90 %, or change the tests"
            )


def _faults(name: str, report: SubmissionReport) -> Iterator[str]:
    if report.verdict is not Ending.GRADED:
        yield f"{name}: {report.verdict}: {report.message}"
    if report.attempts:
        tried = ", ".join(report.attempts)
        yield f"{name} looks like an attempt to get around the grading: {tried}"
    for failed in report.unexplained:
        yield f"{name}: the grading system failed beyond the verdicts: {failed}"


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
        yield (
            f"misconception {name} survives: every test of {own.name} passes. Add a test that it "
            f"fails, or take misconceptions/{name}.py away"
        )
        return
    if misconception.rejected_by not in {f.split("::")[-1] for f in functions}:
        yield (
            f"misconception {name} is not rejected by {misconception.rejected_by}, "
            f"but by {', '.join(f.split('::')[-1] for f in functions[:4])}: mend the test, or the "
            f"line `Rejected by:` in misconceptions/{name}.py"
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


def _coverage(engine: Engine, exercise: str, failed: Iterable[str]) -> Iterator[str]:
    if not engine.bank.of_exercise(exercise):
        yield f"{exercise} has no misconception"
    names = (base_of(n) for n in engine.runs.names())
    for function in dict.fromkeys(n for n in names if n.startswith(f"test_{exercise}.py::")):
        if function not in failed:
            yield f"{function} proves nothing: no misconception fails it"
