"""Views of weeks and submissions for pages and JSON answers, as plain values."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

import msgspec

from ...model.course import Course, Immediate, Week
from ...model.report.verdicts import Ending
from ...nbgrader.status import returned
from ...nbgrader.workspace import Workspace
from ..disclosure.allowance import Allowance, allowance, counting_rule
from ..disclosure.result_comparison import BetterSubmission, better_submission
from ..disclosure.visible_results import VisibleResult, redact
from ..gradebook.recorded_history import format_received, history_of, is_overruled, is_recorded
from ..queue.dispatch import Dispatcher
from ..queue.queued_submission import (
    GRADED,
    REPLACED,
    RUNNING,
    STUCK,
    WAITING,
    QueuedSubmission,
    recency,
)
from ..shared_state import SharedState

_WORDS = {
    WAITING: "Waiting",
    RUNNING: "Being graded",
    GRADED: "Graded",
    REPLACED: "Replaced by a newer submission",
    STUCK: "Waiting because of a system error",
}
_REFUSED = "Its written answers will be part of your next submission."
_WITHHELD = "It counts. Its result comes with the feedback."
_RESUBMIT = "To see it earlier, submit the same files again once you have results left."
_PERIODS = {"hour": "this hour", "day": "today", "week": "for this week"}


class SubmissionView(msgspec.Struct, frozen=True, rename={"result": "told"}):
    """A submission as its student sees it. `autograder submit` reads it as JSON."""

    receipt: str
    student: str
    week: str
    title: str
    state: str
    words: str
    received: str
    received_short: str
    digest: str
    channel: str
    why: str = ""  # why there is no result
    ahead: int = 0
    seconds: int = 0
    result: VisibleResult | None = None
    newer: str = ""
    counts: bool = False
    rule: str = ""  # which submission counts
    better: BetterSubmission | None = None
    restorable: bool = False

    @property
    def done(self) -> bool:
        return self.state in (GRADED, REPLACED)


class WeekView(msgspec.Struct, frozen=True):
    """A week as a student sees it."""

    name: str
    title: str
    module: str
    due: str
    past: bool
    left: int
    tries: int
    per: str
    why: str
    wait: int
    renews: str
    earlier: tuple[SubmissionView, ...]
    returned: bool
    rule: str
    notebook: str  # for written answers, "" if the week has none


class Views:
    """Builds views. All methods block."""

    def __init__(self, state: SharedState, dispatcher: Dispatcher) -> None:
        self.courses, self.queue = state.courses, state.queue
        self._dispatcher = dispatcher

    def allowance(self, student: str, week: Week) -> Allowance:
        """Return how many results of a week a student may still see."""
        return self._allowance(student, week, self.queue.of_student(student, week.name))

    def _allowance(
        self, student: str, week: Week, submissions: Sequence[QueuedSubmission]
    ) -> Allowance:
        extension = self.courses.extension(student, week.name)
        now = self.queue.clock()
        return allowance(self.courses.now, week, student, submissions, now, extension)

    def week(self, student: str, week: Week) -> WeekView:
        course = self.courses.now
        submissions = self.queue.of_student(student, week.name)
        allowed = self._allowance(student, week, submissions)
        counting = self._counting_receipt(submissions)
        policy = course.registry.immediate
        return WeekView(
            name=week.name,
            title=week.title,
            module=week.module,
            due=in_words(allowed.due),
            past=allowed.due < dt.datetime.now(allowed.due.tzinfo),
            left=allowed.left,
            tries=allowed.tries,
            per=_PERIODS[policy.per],
            why=allowed.why,
            wait=round(allowed.wait),
            renews=in_words(allowed.renews) if allowed.renews else "",
            earlier=tuple(self._summary(s, counting, policy) for s in submissions),
            returned=returned(Workspace(course), week, student),
            rule=counting_rule(course),
            notebook=f"{week.name}.ipynb" if week.questions else "",
        )

    def submission(
        self, submission: QueuedSubmission, *, for_instructor: bool = False
    ) -> SubmissionView:
        """Return everything of a submission that its student or the instructor may see."""
        course = self.courses.now
        policy = course.registry.immediate
        if for_instructor:
            policy = msgspec.structs.replace(policy, show="scores")
            submission = msgspec.structs.replace(submission, withheld=False)
        submissions = self.queue.of_student(submission.student, submission.week)
        if submission.state == GRADED:
            counting = self._counting_receipt(submissions)
            view = self._summary(submission, counting, policy)
            return msgspec.structs.replace(
                view,
                rule=counting_rule(course),
                better=self._better(view, submissions, policy, counting),
                restorable=self._is_restorable(submission, counting),
            )
        ahead, seconds = 0, 0.0
        if submission.state in (WAITING, RUNNING):
            ahead, seconds = self._dispatcher.estimate(submission)
        newer = (s.receipt for s in submissions if s.number > submission.number)
        return msgspec.structs.replace(
            self._summary(submission, "", policy),
            ahead=ahead if submission.state == WAITING else 0,
            seconds=round(seconds),
            newer=next(newer, "") if submission.state == REPLACED else "",
            rule=counting_rule(course),
        )

    def _summary(
        self, submission: QueuedSubmission, counting: str, policy: Immediate
    ) -> SubmissionView:
        """Return the view of a submission in a list. `counting`: the receipt that counts."""
        course, week = self.courses.now, self.courses.week(submission.week)
        result = self._result(submission, policy)
        refused = result is not None and result.verdict == Ending.REFUSED
        why = ""
        if refused:
            why = _REFUSED if week is not None and week.questions else ""
        elif submission.withheld:
            renewable = policy.per != "week" and policy.show != "nothing"
            why = f"{_WITHHELD} {_RESUBMIT}" if renewable else _WITHHELD
        received = local_time(submission.received, course)
        return SubmissionView(
            receipt=submission.receipt,
            student=submission.student,
            week=submission.week,
            title=week.title if week else submission.week,
            state=submission.state,
            words="Not accepted" if refused else _WORDS[submission.state],
            received=in_words(received, seconds=True),
            received_short=in_short(submission.received, course.zone),
            digest=submission.digest,
            channel=submission.channel,
            why=why,
            result=result,
            counts=submission.receipt == counting,
        )

    def _result(self, submission: QueuedSubmission, policy: Immediate) -> VisibleResult | None:
        week = self.courses.week(submission.week)
        if submission.state != GRADED or week is None:
            return None
        report = self.queue.result(submission.receipt)
        return redact(report, week, policy, withheld=submission.withheld) if report else None

    def _better(
        self,
        view: SubmissionView,
        submissions: Sequence[QueuedSubmission],
        policy: Immediate,
        counting: str,
    ) -> BetterSubmission | None:
        zone = self.courses.now.zone
        others = {s.receipt: s for s in submissions if s.receipt != view.receipt}
        results = (
            (receipt, in_short(s.received, zone), self._result(s, policy))
            for receipt, s in others.items()
        )
        better = better_submission(view.result, results)
        if better is None:
            return None
        restorable = self._is_restorable(others[better.receipt], counting)
        return msgspec.structs.replace(better, restorable=restorable)

    # Counting and restoring

    def _counting_receipt(self, submissions: Sequence[QueuedSubmission]) -> str:
        """Return the receipt that counts, or "" if it is not determined yet."""
        course = self.courses.now
        by_recency = sorted(submissions, key=recency, reverse=True)
        newest = next((s for s in by_recency if self._was_graded(s)), None)
        week = self.courses.week(newest.week) if newest else None
        if newest is None or week is None:
            return ""
        history = history_of(course, week, newest.student)
        current = history.entry(history.current)
        unrecorded = newest.restored > newest.received or not is_recorded(history, newest)
        if current is None or (unrecorded and not is_overruled(history, newest)):
            return newest.receipt if course.registry.counts == "latest" else ""
        same_time = (s for s in submissions if format_received(s.received) == current.handed_in)
        return next((s.receipt for s in same_time), "")

    def _is_restorable(self, submission: QueuedSubmission, counting: str) -> bool:
        """Return True if the student may make this submission count."""
        course, week = self.courses.now, self.courses.week(submission.week)
        return (
            course.registry.counts == "latest"
            and submission.receipt != counting
            and self._was_graded(submission)
            and week is not None
            and not returned(Workspace(course), week, submission.student)
        )

    def _was_graded(self, submission: QueuedSubmission) -> bool:
        """Return True if hidden tests graded a submission, False if it was refused."""
        report = self.queue.result(submission.receipt) if submission.state == GRADED else None
        return report is not None and report.verdict is Ending.GRADED


def in_words(moment: dt.datetime, *, seconds: bool = False) -> str:
    """Format a time such as `Monday 18 January, 23:59 CET`."""
    clock = f"{moment:%H:%M:%S}" if seconds else f"{moment:%H:%M}"
    return f"{moment:%A} {moment.day} {moment:%B}, {clock} {moment.tzname()}"


def in_short(received: float, zone: dt.tzinfo) -> str:
    """Format a time in seconds of UTC such as `18 January, 14:03`."""
    moment = dt.datetime.fromtimestamp(received, zone)
    return f"{moment.day} {moment:%B}, {moment:%H:%M}"


def local_time(seconds: float, course: Course) -> dt.datetime:
    """Convert seconds of UTC to the course's time zone."""
    return dt.datetime.fromtimestamp(seconds, course.zone)
