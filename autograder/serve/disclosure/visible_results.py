"""Redact results until feedback is released.

Allowed: the misconception and its hint, the requirement that a failing test checks, the verdict,
the name of a built-in exception, and a line of the student's module. Messages of hidden tests
contain shapes, positions and values, so they stay hidden until feedback, as do scores if the course
hides them. Pages and commands render only `VisibleResult`, so they cannot reveal anything else.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable
from typing import assert_never

import msgspec

from ...feedback.view import ExerciseView, view_exercise
from ...model.course import Immediate, Week
from ...model.report.comparison import NOT_DESCRIBED
from ...model.report.schema import Ending, ExerciseReport, SubmissionReport, TestReport, Verdict

WITHHELD = "held"
_EXCEPTION = re.compile(r"\b[A-Z][A-Za-z]+(?:Error|Exception|Interrupt|Exit|Iteration)\b")


class VisibleFinding(msgspec.Struct, frozen=True):
    """Failing tests with the same cause, and the requirements they check.

    Only the first claim is known to fail; `others` describes claims that may fail as well.
    """

    verdict: str
    claims: tuple[str, ...]
    line: int = 0
    message: str = ""
    others: str = ""


class NamedMistake(msgspec.Struct, frozen=True):
    """A misconception that was recognised."""

    title: str
    hint: str


class VisibleExercise(msgspec.Struct, frozen=True):
    """An exercise. `state` and `words` are empty if the course shows misconceptions only."""

    name: str
    points: float
    state: str = ""
    words: str = ""
    mark: str = ""
    score: float | None = None
    named: tuple[NamedMistake, ...] = ()
    where: str = ""
    carried: str = ""
    causes: tuple[VisibleFinding, ...] = ()
    passing: int = 0  # number of claims


class VisibleResult(msgspec.Struct, frozen=True):
    """The part of a result that the student may see now."""

    verdict: str
    message: str = ""
    score: float | None = None
    max_score: float = 0.0
    exercises: tuple[VisibleExercise, ...] = ()


def redact(
    report: SubmissionReport, week: Week, policy: Immediate, *, withheld: bool = False
) -> VisibleResult:
    """Return the part of a report that the course's policy allows the student to see.

    withheld: hide the result because the student has no attempts left
    """
    if report.verdict is Ending.REFUSED:  # no hidden test was run
        return VisibleResult(str(report.verdict), report.message, max_score=report.max_score)
    if withheld or policy.show == "nothing":
        return VisibleResult(WITHHELD, max_score=report.max_score)
    if report.verdict is not Ending.GRADED:  # the message describes the machine
        return VisibleResult(str(report.verdict), max_score=report.max_score)
    reports = {e.name: e for e in report.exercises}
    empty = (ExerciseReport(e.name, 0.0, e.points) for e in week.exercises)
    views = [view_exercise(_without_values(reports.get(e.name, e))) for e in empty]
    exercises = tuple(_redact_exercise(view, policy) for view in views)
    score = report.score if policy.show == "scores" else None
    return VisibleResult(str(report.verdict), "", score, report.max_score, exercises)


def _without_values(exercise: ExerciseReport) -> ExerciseReport:
    tests = tuple(
        msgspec.structs.replace(test, message=_safe_message(test)) for test in exercise.tests
    )
    return msgspec.structs.replace(exercise, tests=tests, deductions=())


def _safe_message(test: TestReport) -> str:
    """Return a test's message if it does not depend on hidden values."""
    if test.message == NOT_DESCRIBED:
        return test.message
    match test.verdict:
        case Verdict.FORBIDDEN | Verdict.UNWRITTEN | Verdict.NOT_RUN:
            return test.message  # describes only the student's source
        case Verdict.CRASHED:
            return next((n for n in _EXCEPTION.findall(test.message) if hasattr(builtins, n)), "")
        case Verdict.PASS | Verdict.WRONG | Verdict.TIMEOUT | Verdict.LIMIT | Verdict.BAD_REPLY:
            return ""
        case Verdict.REFUSED | Verdict.GRADER_FAULT:
            return ""
        case verdict:
            assert_never(verdict)


def _redact_exercise(view: ExerciseView, policy: Immediate) -> VisibleExercise:
    named = tuple(NamedMistake(d.title, d.hint) for d in view.report.explained)
    if policy.show == "names":
        where, carried = (view.where, view.carried) if named else ("", "")
        return VisibleExercise(view.name, view.points, named=named, where=where, carried=carried)
    return VisibleExercise(
        view.name,
        view.points,
        state=view.state,
        words=view.words,
        mark=view.mark,
        score=view.score if policy.show == "scores" else None,
        named=named,
        where=view.where,
        carried=view.carried,
        causes=tuple(_visible_findings(view)),
        passing=len(view.held),
    )


def _visible_findings(view: ExerciseView) -> Iterable[VisibleFinding]:
    if view.state == "open":
        return
    for finding in view.findings:
        claims = tuple(f"{c.text} (with {c.where})" if c.where else c.text for c in finding.claims)
        line = 0 if view.where else finding.line
        yield VisibleFinding(finding.word, claims, line, finding.message, finding.others)
