"""What a student is told of a result before feedback is returned, and never more.

Told are the misconception with its hint, the claim of a test that does not hold, how it ended, the
name of Python's error if one stopped it, and the line of the student's module. Messages of hidden
tests hold sizes, places and values of what was compared: they stay until the feedback, as do the
points if the course does not show them. The pages and the command are made from what `told`
returns, so what it leaves out cannot be shown.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable

import msgspec

from ...feedback.view import ExerciseView, link_causes, view_exercise
from ...model.course.loader import Immediate, Week
from ...model.report.findings import NOT_DESCRIBED
from ...model.report.schema import ExerciseReport, SubmissionReport, TestReport
from ...model.report.verdicts import Ending, Verdict

_ERROR = re.compile(r"\b[A-Z][A-Za-z]+(?:Error|Exception|Interrupt|Exit|Iteration)\b")
# Their messages speak of the student's source alone.
_OF_THE_SOURCE = (Verdict.FORBIDDEN, Verdict.UNWRITTEN, Verdict.NOT_RUN)


class Cause(msgspec.Struct, frozen=True):
    """How some tests ended, and what they asked.

    The first claim fails; `others` says of how many more it is not known yet.
    """

    verdict: str
    claims: tuple[str, ...]
    line: int = 0
    message: str = ""
    others: str = ""


class ToldMistake(msgspec.Struct, frozen=True):
    """A misconception that was recognised."""

    title: str
    hint: str


class ToldExercise(msgspec.Struct, frozen=True):
    """One exercise. `state` and `words` are empty if only names are told."""

    name: str
    points: float
    state: str = ""
    words: str = ""
    mark: str = ""
    score: float | None = None
    named: tuple[ToldMistake, ...] = ()
    where: str = ""
    carried: str = ""
    causes: tuple[Cause, ...] = ()
    holds: int = 0  # how many claims


class Told(msgspec.Struct, frozen=True):
    """A result as its student may see it now."""

    verdict: str
    message: str = ""
    score: float | None = None
    max_score: float = 0.0
    exercises: tuple[ToldExercise, ...] = ()


def told(report: SubmissionReport, week: Week, policy: Immediate, *, held: bool = False) -> Told:
    """What of a report the student is told."""
    if report.verdict is Ending.REFUSED:  # says nothing of hidden tests: none was run
        return Told(str(report.verdict), report.message, max_score=report.max_score)
    if held or policy.show == "nothing":
        return Told("held", max_score=report.max_score)
    if report.verdict is not Ending.GRADED:  # a fault's message is the machine's
        return Told(str(report.verdict), max_score=report.max_score)
    reports = {e.name: e for e in report.exercises}
    views = [
        view_exercise(_without_values(reports.get(e.name) or ExerciseReport(e.name, 0.0, e.points)))
        for e in week.exercises
    ]
    link_causes(views)
    exercises = tuple(_told(view, policy) for view in views)
    score = report.score if policy.show == "scores" else None
    return Told(str(report.verdict), "", score, report.max_score, exercises)


def _without_values(exercise: ExerciseReport) -> ExerciseReport:
    tests = tuple(_test(test) for test in exercise.tests)
    return msgspec.structs.replace(exercise, tests=tests, deductions=())


def _test(test: TestReport) -> TestReport:
    kept = ""
    if test.verdict in _OF_THE_SOURCE or test.message == NOT_DESCRIBED:
        kept = test.message
    elif test.verdict is Verdict.CRASHED:
        found = (word for word in _ERROR.findall(test.message) if hasattr(builtins, word))
        kept = next(found, "")
    return msgspec.structs.replace(test, message=kept)


def _told(view: ExerciseView, policy: Immediate) -> ToldExercise:
    named = tuple(ToldMistake(d.title, d.hint) for d in view.report.explained)
    only_names = ToldExercise(
        view.name,
        view.points,
        named=named,
        where=view.where if named else "",
        carried=view.carried if named else "",
    )
    if policy.show == "names":
        return only_names
    return msgspec.structs.replace(
        only_names,
        state=view.state,
        words=view.words,
        mark=view.mark,
        score=view.score if policy.show == "scores" else None,
        where=view.where,
        carried=view.carried,
        causes=tuple(_causes(view)),
        holds=len(view.held),
    )


def _causes(view: ExerciseView) -> Iterable[Cause]:
    if view.state == "open":
        return
    for finding in view.findings:
        claims = tuple(f"{c.text} (with {c.where})" if c.where else c.text for c in finding.claims)
        line = 0 if view.where else finding.line
        yield Cause(finding.word, claims, line, finding.message, finding.others)
