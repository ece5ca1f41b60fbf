"""Build views of weeks and submissions: the values shown on pages and sent as JSON."""

import datetime as dt
import sys
from collections.abc import Collection, Sequence
from importlib import resources
from typing import Any

import msgspec

from ...model.course import Course, Immediate, Week
from ...model.report.schema import Counterexample, Ending
from ...model.submission_files import in_short, parse_timestamp
from ...nbgrader.status import returned
from ...nbgrader.workspace import Workspace
from ...pages.environment import environment
from ...pages.markdown import code_styles
from ..attempt_feedback import (
    Allowance,
    VisibleResult,
    allowance,
    comparison,
    counting_rule,
    merit,
    rationed,
    redact,
)
from ..recording import format_received, history_of, is_pending
from ..shared_state import SharedState
from ..tables import GRADED, REPLACED, RUNNING, WAITING, QueuedSubmission, recency

STATIC_TYPES = {"style.css": "text/css; charset=utf-8", "page.js": "text/javascript; charset=utf-8"}

_FIRST_GUESS = 8.0  # assumed grading time (s) before the week's first result
_QUANTILE = 0.8  # of the recent grading times, used as the estimate
_MAX_REFRESH = 30  # maximum seconds between two polls by a page
_WORDS = {
    WAITING: "Waiting",
    RUNNING: "Being graded",
    GRADED: "Graded",
    REPLACED: "Replaced by a newer submission",
}
_REFUSED = "Its written answers will be part of your next submission."
_FAILED = "A system error stopped its grading. It will be graded as soon as that is fixed."
_WITHHELD = "It counts. Its result comes with the feedback."
_RESUBMIT = "To see it earlier, submit the same files again once you have results left."
_PERIODS = {"hour": "this hour", "day": "today", "week": "for this week"}


class BetterSubmission(msgspec.Struct, frozen=True):
    """A submission with a better result, and a sentence that compares the two results."""

    receipt: str
    received: str
    sentence: str
    restorable: bool


class SubmissionView(msgspec.Struct, frozen=True):
    """A submission as its student sees it. `autograder submit` reads this view as JSON."""

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
    why: str = ""  # a notice if the submission is refused, withheld or delayed
    ahead: int = 0
    seconds: int = 0  # estimated time until the result
    refresh: int = 0  # seconds until the next poll; 0 after grading has ended
    result: VisibleResult | None = None
    newer: str = ""
    counts: bool = False
    rule: str = ""  # a sentence that explains which submission counts
    better: BetterSubmission | None = None
    restorable: bool = False
    left: int = 0  # number of further results that the student may see
    tries: int = 0


class WeekView(msgspec.Struct, frozen=True):
    """A week as a student sees it."""

    name: str
    title: str
    module: str
    due: str
    past: bool
    per: str
    allowance: Allowance
    earlier: tuple[SubmissionView, ...]
    returned: bool
    rule: str
    notebook: str  # for written answers; "" if the week has no questions
    collected: str  # time of a collected submission, or ""; not read if there are earlier ones


class Views:
    """Builds views. All methods block."""

    def __init__(self, state: SharedState, processes: int) -> None:
        self.courses, self.queue, self._processes = state.courses, state.queue, processes

    def allowance(self, student: str, week: Week) -> Allowance:
        """Return how many more results for a week a student may see."""
        submissions = self.queue.of_student(student, week.name)
        extension = self.courses.extension(student, week.name)
        now = self.queue.clock()
        return allowance(self.courses.now, week, student, submissions, now, extension)

    def week(self, student: str, week: Week) -> WeekView:
        course = self.courses.now
        submissions = self.queue.of_student(student, week.name)
        allowed = self.allowance(student, week)
        policy = course.registry.immediate
        counting = self._counting_receipt(submissions, policy)
        base = None if submissions else history_of(course, week, student).base
        collected = parse_timestamp(base.handed_in or base.received) if base else None
        return WeekView(
            name=week.name,
            title=week.title,
            module=week.module,
            due=in_words(allowed.due),
            past=allowed.due < dt.datetime.now(allowed.due.tzinfo),
            per=_PERIODS[policy.per],
            allowance=allowed,
            earlier=tuple(self._summary(s, counting, policy) for s in submissions),
            returned=returned(Workspace(course), week, student),
            rule=counting_rule(course),
            notebook=f"{week.name}.ipynb" if week.questions else "",
            collected=in_words(collected.astimezone(course.zone)) if collected else "",
        )

    def submission(
        self, submission: QueuedSubmission, *, for_instructor: bool = False
    ) -> SubmissionView:
        """Return everything that the student or the instructor may see about a submission."""
        policy = self.courses.now.registry.immediate
        submissions = self.queue.of_student(submission.student, submission.week)
        if for_instructor:
            policy = msgspec.structs.replace(policy, show="scores", counterexamples=sys.maxsize)
            submissions = [msgspec.structs.replace(s, withheld=False) for s in submissions]
        (submission,) = (s for s in submissions if s.receipt == submission.receipt)
        counting = self._counting_receipt(submissions, policy)
        examples = self._examples(submission, submissions, policy.counterexamples)
        view = self._summary(submission, counting, policy, examples)
        newer = (s.receipt for s in submissions if s.number > submission.number)
        more: dict[str, Any] = {"newer": next(newer, "")}
        if submission.state == GRADED:
            every = [self._summary(s, counting, policy) for s in submissions]
            more["better"] = _better(view, every)
        elif submission.state != REPLACED:
            more["ahead"], seconds = self._wait(submission)
            refresh = min(_MAX_REFRESH, max(1, round(seconds) // 8))
            more |= {"seconds": round(seconds), "refresh": refresh}
        if week := self.courses.week(submission.week):
            allowed = self.allowance(submission.student, week)
            more |= {"left": 0 if allowed.why else allowed.left, "tries": allowed.tries}
        return msgspec.structs.replace(view, **more)

    def _examples(
        self, submission: QueuedSubmission, submissions: Sequence[QueuedSubmission], ration: int
    ) -> frozenset[Counterexample]:
        """Return the counterexamples that may be shown with the results of the submission's day."""
        if submission.state != GRADED:  # pages poll, so read no results in vain
            return frozenset()
        course = self.courses.now
        day = local_time(submission.counts_from, course).date()
        same_day = [
            s
            for s in sorted(submissions, key=lambda s: s.number)
            if s.number <= submission.number
            and s.state == GRADED
            and not s.withheld
            and local_time(s.counts_from, course).date() == day
        ]
        reports = (self.queue.result(s.receipt) for s in same_day)
        return rationed((r for r in reports if r is not None), ration)

    def _summary(
        self,
        submission: QueuedSubmission,
        counting: str,
        policy: Immediate,
        examples: Collection[Counterexample] = (),
    ) -> SubmissionView:
        """Return the view of a submission without the fields that only the submission page shows.

        counting: receipt of the submission that counts
        examples: the counterexamples that may be shown
        """
        course, week = self.courses.now, self.courses.week(submission.week)
        report = self.queue.result(submission.receipt) if submission.state == GRADED else None
        refused = report is not None and report.verdict is Ending.REFUSED
        result, restorable = None, False
        if report is not None and week is not None:
            result = redact(report, week, policy, withheld=submission.withheld, examples=examples)
            replaceable = course.registry.counts == "latest" and submission.receipt != counting
            can_count = replaceable and not refused
            restorable = can_count and not returned(Workspace(course), week, submission.student)
        why = ""
        if refused:
            why = _REFUSED if week is not None and week.questions else ""
        elif submission.withheld:
            renewable = policy.per != "week" and policy.show != "nothing"
            why = f"{_WITHHELD} {_RESUBMIT}" if renewable else _WITHHELD
        elif submission.error and submission.state == WAITING:
            why = _FAILED
        received = local_time(submission.received, course)
        return SubmissionView(
            receipt=submission.receipt,
            student=submission.student,
            week=submission.week,
            title=week.title if week else submission.week,
            state=submission.state,
            words="Not accepted" if refused else _WORDS[submission.state],
            received=in_words(received, seconds=True),
            received_short=in_short(received),
            digest=submission.digest,
            channel=submission.channel,
            why=why,
            result=result,
            counts=submission.receipt == counting,
            rule=counting_rule(course),
            restorable=restorable,
        )

    def _wait(self, submission: QueuedSubmission) -> tuple[int, float]:
        """Return the number of submissions ahead, and the estimated seconds until the result.

        The estimate is based on the 80th percentile of the week's recent grading times.
        """
        durations = sorted(self.queue.durations(submission.week)) or [_FIRST_GUESS]
        each = max(1.0, durations[int(len(durations) * _QUANTILE)])
        if submission.state == RUNNING:
            return 0, each
        ahead, running = self.queue.position(submission)
        pause = max(0.0, submission.not_before - self.queue.clock())
        return ahead, pause + each * ((ahead + running) // self._processes + 1)

    def _counting_receipt(self, submissions: Sequence[QueuedSubmission], policy: Immediate) -> str:
        """Return the receipt of the submission that counts, or "" if it is unknown or hidden.

        If the best submission counts, its receipt is hidden from students who may not see all
        scores, because it would reveal which of two hidden scores is higher.
        """
        course = self.courses.now
        hidden = policy.show != "scores" or any(s.withheld for s in submissions)
        if course.registry.counts == "best" and hidden:
            return ""
        by_recency = sorted(submissions, key=recency, reverse=True)
        graded = (s for s in by_recency if self.queue.verdict(s) is Ending.GRADED)
        newest = next(graded, None)
        week = self.courses.week(newest.week) if newest else None
        if newest is None or week is None:
            return ""
        history = history_of(course, week, newest.student)
        current = history.entry(history.current)
        if current is None or is_pending(history, newest):
            return newest.receipt if course.registry.counts == "latest" else ""
        same_time = (s for s in submissions if format_received(s.received) == current.handed_in)
        return next((s.receipt for s in same_time), "")


def _better(own: SubmissionView, views: Sequence[SubmissionView]) -> BetterSubmission | None:
    best = max(views, key=lambda view: merit(view.result))
    if own.result is None or best.result is None or not merit(own.result):
        return None
    if merit(best.result) <= merit(own.result):
        return None
    sentence = comparison(own.result, best.result, best.received_short)
    return BetterSubmission(best.receipt, best.received_short, sentence, best.restorable)


def in_words(moment: dt.datetime, *, seconds: bool = False) -> str:
    """Format a time such as `Monday 18 January, 23:59 CET`."""
    clock = f"{moment:%H:%M:%S}" if seconds else f"{moment:%H:%M}"
    return f"{moment:%A} {moment.day} {moment:%B}, {clock} {moment.tzname()}"


def local_time(seconds: float, course: Course) -> dt.datetime:
    """Convert seconds since the epoch to the course's time zone."""
    return dt.datetime.fromtimestamp(seconds, course.zone)


def static_file(name: str) -> bytes:
    """Return the content of the style sheet or the script of the service's pages."""
    own = resources.files("autograder.serve") / "templates" / name
    if name == "style.css":
        shared = environment("serve").get_template("page.css").render()
        styles = shared, code_styles(), own.read_text(encoding="utf-8")
        return "\n".join(styles).encode()
    return own.read_bytes()


def exchange_page(course: Course, week: Week, view: SubmissionView) -> str:
    """Return a preliminary result as a self-contained page for `nbgrader fetch_feedback`."""
    template = environment("serve").get_template("exchange.html.j2")
    style, due = static_file("style.css").decode(), in_words(course.localized(week.due))
    return template.render(course=course, week=week, submission=view, style=style, due=due)
