"""Verify that a week's hidden tests are fair and catch every known mistake.

The stub must earn no points, a trivial program at most a tenth of an exercise's points, and the
solution and every alternative full points. Each misconception must be rejected by the test that its
docstring names, and must be diagnosed as itself or as a misconception that `Same as:` names. In the
sandbox, none of these programs may look like an attempt to evade grading. Every exercise needs a
misconception, every test must reject at least one misconception, every written question needs a
rubric, and no placeholder of a new week may remain.

Each exercise, and the week as a whole, can be verified separately.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ...model.availability import installed
from ...model.course.bank import Misconception
from ...model.course.stubs import stub_of, stub_problem
from ...model.report.schema import Ending, SubmissionReport, Verdict, base_of
from ..lesson.marking_guide import answers_problems
from ..lesson.syllabus import syllabus_problems
from ..scaffolding import unfilled_placeholders
from .week_parts import Row, Verification

if TYPE_CHECKING:
    from ...grading.engine import Engine  # imports torch

WHOLE = ""  # the checks of the week as a whole
_TRIVIAL_SHARE = 0.1  # largest share of an exercise's points that a trivial program may earn


def verify_part(engine: Engine, part: str, only: str = "") -> Verification:
    """Verify one exercise, or the week as a whole (WHOLE). `only`: verify one misconception."""
    result = Verification(engine.week.name, alternatives=len(engine.bank.alternatives))
    if part == WHOLE:
        result.gaps += _week_gaps(engine)
    else:
        result.gaps += _exercise_gaps(engine, part, only, result)
    return result


def _week_gaps(engine: Engine) -> Iterator[str]:
    course, week = engine.course, engine.week
    stub = _graded(engine, "stub", stub_of(course, week))
    if stub.verdict is not Ending.GRADER_FAULT or not _test_faults(engine):
        yield from _faults("the stub", stub)
    for exercise in stub.exercises:
        if exercise.score:
            passed = [t.name for t in exercise.tests if t.verdict is Verdict.PASS]
            yield f"the stub earns points for {exercise.name}: {passed[0]} passes"
    if problem := stub_problem(course, week):
        yield problem
    if not engine.bank.alternatives:
        yield "there is no alternative solution: add one, to show that other styles pass as well"
    beliefs = Counter(m.belief for m in engine.bank.misconceptions if m.belief)
    for m in engine.bank.misconceptions:
        if beliefs[m.belief] == 1:
            yield f"only misconception {m.name} has the belief {m.belief!r}: is it misspelt?"
    yield from answers_problems(course, week)
    yield from syllabus_problems(course, week)
    yield from (f"{place} is not filled in yet" for place in unfilled_placeholders(course, week))


def _exercise_gaps(engine: Engine, exercise: str, only: str, result: Verification) -> Iterator[str]:
    """Yield the gaps of an exercise, or only those of its misconception `only`."""
    if faults := _test_faults(engine, exercise):
        yield from faults  # nothing else can be verified if tests do not run
        return
    week, bank = engine.week, engine.bank.of_exercise(exercise)
    extra = week.exercise(exercise).extra
    missing = extra is not None and not installed(extra)
    if missing:
        result.lacking, bank = (str(extra),), ()
    if not only:
        result.tests = sum(r.startswith(f"test_{exercise}.py::") for r in engine.runs.names())
        yield from _correct_program_gaps(engine, exercise, result)
        if not missing:
            yield from _trivial_program_gaps(engine, exercise)
    failed = set[str]()
    for misconception in bank:
        if only in ("", misconception.name):
            report = _graded(engine, misconception.name, misconception.source, exercise)
            yield from _misconception_gaps(misconception, report, result, failed)
    if not missing and not only:
        yield from _coverage_gaps(engine, exercise, failed)


def _test_faults(engine: Engine, exercise: str | None = None) -> list[str]:
    """Return an error message for each test that cannot run on the solution."""
    with engine.runs.solution() as target:
        ran = engine.runs.run(target, engine.runs.files(engine.bank.solution), exercise)
    return list({r.report.base: r.fault for r in reversed(ran) if r.fault}.values())[::-1]


def _graded(
    engine: Engine, name: str, source: str, exercise: str | None = None
) -> SubmissionReport:
    return engine.grade(name, {engine.week.module: source.encode()}, exercise)


def _correct_program_gaps(engine: Engine, exercise: str, result: Verification) -> Iterator[str]:
    for name, source in engine.bank.correct_programs:
        report = _graded(engine, name, source, exercise)
        yield from _faults(name, report)
        for test in (t for e in report.exercises for t in e.tests):
            if not test.verdict.ran:
                if name == "the solution":  # an alternative may need an operator that torch lacks
                    result.not_run.add(test.name)
            elif test.verdict is not Verdict.PASS:
                yield f"{name} fails {test.name}: {test.verdict}: {test.message}"


def _trivial_program_gaps(engine: Engine, exercise: str) -> Iterator[str]:
    # not imported at the top, because this import loads torch
    from ...grading.triviality.trivial_programs import plain_calls, trivial_programs

    programs = (*trivial_programs(engine.bank, exercise), *plain_calls(engine.bank, exercise))
    for kind, source in programs:
        report = _graded(engine, kind, source, exercise)
        for found in report.exercises:
            if found.score <= _TRIVIAL_SHARE * found.max_score:
                continue
            causes = ", ".join(found.diagnosis) or "the tests that pass"
            yield (
                f"the trivial program `{kind}` earns {found.score:g} of {found.max_score:g} points "
                f"for {exercise} because of {causes}: raise the costs to 90 %, or change the tests"
            )


def _faults(name: str, report: SubmissionReport) -> Iterator[str]:
    if report.verdict is not Ending.GRADED:
        yield f"{name}: {report.verdict}: {report.message}"
    if report.attempts:
        attempts = ", ".join(report.attempts)
        yield f"{name} looks like an attempt to evade grading: {attempts}"
    for failed in report.unexplained:
        yield f"{name}: a step after grading failed because of a system error: {failed}"


def _misconception_gaps(
    misconception: Misconception, report: SubmissionReport, result: Verification, failed: set[str]
) -> Iterator[str]:
    """Yield the gaps in a misconception's report; add the tests that reject it to `failed`."""
    name = misconception.name
    if misconception.cost is None:
        yield f"misconception {name} does not state its cost: add a line such as `Costs: 20 %`"
    yield from _faults(f"misconception {name}", report)
    own = next((e for e in report.exercises if e.name == misconception.exercise), None)
    if own is None:
        return
    if misspelt := next((t.message for t in own.tests if "NameError" in t.message), ""):
        yield f"misconception {name} fails because a name in it is not defined: {misspelt}"
    tests = tuple(dict.fromkeys(base_of(t.name) for t in own.tests if t.verdict.failed))
    failed.update(tests)
    result.rows.append(Row(name, own.name, tests, own.diagnosis))
    if not tests:
        yield (
            f"misconception {name} survives: it passes every test of {own.name}. Add a test that "
            f"it fails, or remove misconceptions/{name}.py"
        )
        return
    short = [t.split("::")[-1] for t in tests]
    if misconception.rejected_by not in short:
        known = {base_of(t.name).split("::")[-1] for t in own.tests}
        missing = "" if misconception.rejected_by in known else ", which does not exist"
        yield (
            f"misconception {name} is not rejected by {misconception.rejected_by}{missing}, but by "
            f"{', '.join(short)}: fix the test, or the line `Rejected by:` in "
            f"misconceptions/{name}.py"
        )
    if not own.diagnosis or own.diagnosis[0] not in {name, *misconception.same_as}:
        diagnosed = ", ".join(own.diagnosis) or "nothing"
        yield f"misconception {name} is diagnosed as {diagnosed}"


def _coverage_gaps(engine: Engine, exercise: str, failed: Iterable[str]) -> Iterator[str]:
    if not engine.bank.of_exercise(exercise):
        yield f"{exercise} has no misconception"
    names = (base_of(n) for n in engine.runs.names())
    for test in dict.fromkeys(n for n in names if n.startswith(f"test_{exercise}.py::")):
        if test not in failed:
            yield f"no misconception fails `{test}`, so it shows nothing about a submission"
