"""Count a student's attempts, and hide parts of a result until feedback is released.

The section `immediate` of course.yaml configures both. Both are necessary because a submission may
try to leak hidden inputs through its results. `redact` returns the part of a report that a student
may see: the misconception and its hint, the requirement that a failing test checks, the verdict,
the name of a built-in exception, and a line of the student's module. Messages of hidden tests
contain shapes, positions and values, so they stay hidden until feedback is released, and so do
scores if the course hides them. Pages and commands render only a `VisibleResult`, so they cannot
reveal anything else.

Every submission counts towards the grade. `allowance` limits only the number of visible results per
hour, day or week until the due date, and requires a cooldown between two submissions. If a result
is beyond the limit, it is withheld until feedback is released, and its submission is graded last.
Attempts are counted by the service's clock, because students can forge the time of a submission in
the exchange. The forged time can affect only whether the submission is late and whether it is the
latest. A submission uses up an attempt when its grading begins, but not if it is refused or a
system error prevents its grading.
"""

import builtins
import datetime as dt
import re
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import Literal, assert_never

import msgspec
from msgspec.structs import replace

from ..feedback.view import ExerciseView, view_exercise
from ..model.course import Course, Immediate, Week
from ..model.course.late import due_for
from ..model.report.schema import (
    NOT_DESCRIBED,
    Counterexample,
    Ending,
    ExerciseReport,
    SubmissionReport,
    TestReport,
    Verdict,
)
from .tables import COUNTED, QueuedSubmission

Reason = Literal["", "tries", "due", "nothing"]
_HOUR = 3600.0


class Allowance(msgspec.Struct, frozen=True):
    """How many more results of a week a student may see, and when.

    left: how many more results may become visible in the current hour, day or week
    tries: the limit on visible results per hour, day or week
    why: the reason to withhold the result of a submission made now, or "" if it may be visible
    wait: remaining cooldown in seconds
    due: the student's due date, including extensions
    """

    left: int
    tries: int
    why: Reason
    wait: float
    due: dt.datetime

    @property
    def withheld(self) -> bool:
        return self.why != ""


def allowance(
    course: Course,
    week: Week,
    student: str,
    earlier: Sequence[QueuedSubmission],
    now: float,
    extension: dt.timedelta = dt.timedelta(),
) -> Allowance:
    """Return the student's allowance for a week at the time `now` (seconds since the epoch).

    earlier: the student's earlier submissions for the week
    extension: extra time that the student has according to the gradebook
    """
    policy = course.registry.immediate
    moment = dt.datetime.fromtimestamp(now, course.zone)
    due = due_for(course, week, student, extension)
    visible = [s.counts_from for s in earlier if not s.withheld and s.state in COUNTED]
    start = _period_start(policy, moment)
    left = max(0, policy.tries - sum(time >= start for time in visible))
    pause = policy.cooldown_minutes * 60
    # at most `pause`, even if the clock was set back
    wait = min(pause, max(0.0, pause - (now - max(visible)))) if visible else 0.0
    why: Reason = ""
    if policy.show == "nothing":
        why = "nothing"
    elif policy.until == "due" and moment > due:
        why = "due"
    elif not left:
        why = "tries"
    return Allowance(left, policy.tries, why, 0.0 if why else wait, due)


def _period_start(policy: Immediate, moment: dt.datetime) -> float:
    if policy.per == "week":
        return float("-inf")
    if policy.per == "hour":
        return moment.timestamp() - _HOUR
    return moment.replace(hour=0, minute=0, second=0, microsecond=0, fold=0).timestamp()


def rationed(reports: Iterable[SubmissionReport], ration: int) -> frozenset[Counterexample]:
    """Return the counterexamples that a student may see, given the results of one day.

    reports: the visible results, the oldest first; a call that returns is not counted again
    """
    every = (e.counterexample for report in reports for e in report.exercises)
    found = [example for example in every if example is not None]
    calls = {*islice(dict.fromkeys((c.call, c.expected) for c in found), ration)}
    return frozenset(c for c in found if (c.call, c.expected) in calls)


def counting_rule(course: Course) -> str:
    """Return a sentence for students that explains which submission counts."""
    if course.registry.counts == "best":
        return "Your best submission counts, after deductions for late work."
    return "Your latest submission counts, even if an earlier one scored higher."


WITHHELD = "held"
_EXCEPTION = re.compile(r"\b[A-Z][A-Za-z]+(?:Error|Exception|Interrupt|Exit|Iteration)\b")


class VisibleFinding(msgspec.Struct, frozen=True):
    """One cause of failing tests, and the requirements (`claims`) that these tests check.

    Only the first requirement is known to be violated. `others`: a sentence about the other tests.
    """

    verdict: str
    claims: tuple[str, ...]
    line: int = 0
    message: str = ""
    others: str = ""


class NamedMistake(msgspec.Struct, frozen=True):
    """A misconception detected in a submission, with a hint.

    opening: the beginning of the sentence that the title completes
    is_minor: True if it explains less than half of the failed tests
    """

    title: str
    hint: str
    opening: str = "It looks as if your code"
    is_minor: bool = False


class VisibleExercise(msgspec.Struct, frozen=True):
    """The visible part of an exercise's result.

    If course.yaml says `show: names`, the only results are the misconceptions (`named`), their
    location (`where`), and a sentence about mistakes carried over from other exercises (`carried`).
    """

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
    passing: int = 0  # number of requirements that are met
    counterexample: Counterexample | None = None


class VisibleResult(msgspec.Struct, frozen=True):
    """The part of a result that the student may see before feedback is released."""

    verdict: str
    message: str = ""
    score: float | None = None
    max_score: float = 0.0
    exercises: tuple[VisibleExercise, ...] = ()


def redact(
    report: SubmissionReport,
    week: Week,
    policy: Immediate,
    *,
    withheld: bool = False,
    examples: Collection[Counterexample] = (),
) -> VisibleResult:
    """Return the part of a report that the student may see under the course's policy.

    withheld: hide the result, unless the submission was refused
    examples: the counterexamples that the student may see
    """
    if report.verdict is Ending.REFUSED:  # no hidden test ran, so the message reveals nothing
        return VisibleResult(str(report.verdict), report.message, max_score=report.max_score)
    if withheld or policy.show == "nothing":
        return VisibleResult(WITHHELD, max_score=report.max_score)
    if report.verdict is not Ending.GRADED:  # hide the message: it may describe the machine
        return VisibleResult(str(report.verdict), max_score=report.max_score)
    reports = {e.name: e for e in report.exercises}
    empty = (ExerciseReport(e.name, 0.0, e.points) for e in week.exercises)
    visible = (_without_values(reports.get(e.name, e), examples) for e in empty)
    exercises = tuple(_redact_exercise(view_exercise(e), policy) for e in visible)
    score = report.score if policy.show == "scores" else None
    return VisibleResult(str(report.verdict), "", score, report.max_score, exercises)


def _without_values(
    exercise: ExerciseReport, examples: Collection[Counterexample]
) -> ExerciseReport:
    """Remove the values of hidden tests, and a counterexample that the student may not see."""
    example = exercise.counterexample if exercise.counterexample in examples else None
    tests = tuple(replace(test, message=_safe_message(test)) for test in exercise.tests)
    elsewhere = tuple(d for d in exercise.deductions if d.counted_in)
    return replace(exercise, tests=tests, deductions=elsewhere, counterexample=example)


def _safe_message(test: TestReport) -> str:
    """Return the part of a test's message that does not depend on hidden values, or ""."""
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
    named = tuple(
        NamedMistake(d.title, d.hint, d.opening, d.is_minor) for d in view.report.explained
    )
    shown = VisibleExercise(
        view.name,
        view.points,
        named=named,
        where=view.where,
        carried=view.carried,
        counterexample=view.example,
    )
    if policy.show == "names":
        return shown if named else VisibleExercise(view.name, view.points)
    return replace(
        shown,
        state=view.state,
        words=view.words,
        mark=view.mark,
        score=view.score if policy.show == "scores" else None,
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


_CORRECT = ("complete", "carried")


def merit(result: VisibleResult | None) -> tuple[float, ...]:
    """Return a sort key, larger for a better result; () if no score or verdict is visible."""
    if result is None or result.verdict != Ending.GRADED:
        return ()
    if result.score is not None:
        return (result.score,)
    if not any(e.state for e in result.exercises):
        return ()
    return (_correct(result), sum(e.passing for e in result.exercises))


def comparison(result: VisibleResult, best: VisibleResult, when: str) -> str:
    """Return a sentence that compares a result with the result of a better submission.

    when: the time of the better submission
    """
    if result.score is not None and best.score is not None:
        return (
            f"This submission scored {result.score:g} of {result.max_score:g} points. "
            f"Your submission from {when} scored {best.score:g}."
        )
    if _correct(result) != _correct(best):
        return (
            f"{_correct(result)} of {len(result.exercises)} exercises are correct in this "
            f"submission. In your submission from {when}, {_correct(best)} were correct."
        )
    return f"Fewer checks pass than in your submission from {when}."


def _correct(result: VisibleResult) -> int:
    return sum(e.state in _CORRECT for e in result.exercises)
