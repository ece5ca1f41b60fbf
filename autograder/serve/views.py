"""What pages and answers say, as plain values: a week, a try, a result as it grows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

import msgspec

from ..model.course import Course, Immediate, Week
from ..model.verdicts import Ending
from ..nbgrader.workspace import Workspace
from .compare import Better, better_of
from .courses import Courses
from .current import format_received, history_of, is_recorded, overrules
from .dispatch import Dispatcher
from .leases import RUNNING, STUCK, WAITING
from .news import News
from .people import Person
from .policy import TriesLeft, counting_rule, standing
from .queue import GRADED, REPLACED, Queue, Try, precedence
from .told import Told, told

_WORDS = {
    WAITING: "Waiting",
    RUNNING: "Being graded",
    GRADED: "Graded",
    REPLACED: "Replaced by a newer one",
    STUCK: "Waiting for us: our fault, not yours",
}
_WHY = {
    "refused": "The written answers that came with it are kept for your next submission.",
    "tries": "It counts. You have used your results for now, so this one comes with the feedback.",
    "due": "It counts, as late work does. Its result comes with the feedback.",
    "nothing": "It counts. Results come with the feedback.",
}
_AGAIN = "To see it earlier, submit the same files again once you have results left."


class Growth(msgspec.Struct, frozen=True):
    """How far the grading of one exercise has come."""

    name: str
    ran: int
    words: str


class TryView(msgspec.Struct, frozen=True):
    """One try as its student sees it."""

    receipt: str
    student: str
    week: str
    title: str
    state: str
    words: str
    received: str
    when: str  # received, in short
    digest: str
    door: str
    held: bool
    why: str = ""
    ahead: int = 0
    seconds: int = 0
    grows: tuple[Growth, ...] = ()
    told: Told | None = None
    newer: str = ""
    counts: bool = False  # the latest counts, and this is it
    rule: str = ""  # which submission counts
    better: Better | None = None
    restorable: bool = False

    @property
    def over(self) -> bool:
        return self.state in (GRADED, REPLACED)


class WeekView(msgspec.Struct, frozen=True):
    """A week as a student meets it."""

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
    earlier: tuple[TryView, ...]
    returned: bool
    rule: str  # which submission counts
    notebook: str  # for written answers; "" if the week asks for none


class Views:
    """Makes them. Methods block."""

    def __init__(self, courses: Courses, queue: Queue, dispatcher: Dispatcher, news: News) -> None:
        self.courses, self.queue = courses, queue
        self.dispatcher, self.news = dispatcher, news

    def standing(self, student: str, week: Week, tries: list[Try] | None = None) -> TriesLeft:
        own = self.queue.of(student, week.name) if tries is None else tries
        more = self.courses.more_time(student, week.name)
        return standing(self.courses.now, week, student, own, self.queue.clock(), more)

    def week(self, student: str, week: Week) -> WeekView:
        course = self.courses.now
        policy = course.registry.immediate
        tries = self.queue.of(student, week.name)
        now = self.standing(student, week, tries)
        counted = self.counted(tries)
        return WeekView(
            name=week.name,
            title=week.title,
            module=week.module,
            due=in_words(now.due),
            past=now.due < dt.datetime.now(now.due.tzinfo),
            left=now.left,
            tries=now.tries,
            per={"hour": "this hour", "day": "today", "week": "for this week"}[policy.per],
            why=now.why,
            wait=round(now.wait),
            renews=in_words(now.renews) if now.renews else "",
            earlier=tuple(self._brief(t, counted) for t in tries),
            returned=is_returned(course, week, student),
            rule=counting_rule(course),
            notebook=f"{week.name}.ipynb" if week.questions else "",
        )

    def one(self, one: Try, *, viewer: Person | None = None) -> TryView:
        """Return everything that may be shown of one try."""
        course = self.courses.now
        instructor = viewer is not None and viewer.role == "instructor"
        policy = course.registry.immediate
        if instructor:
            policy = msgspec.structs.replace(policy, show="scores")
        hidden = one.held and not instructor
        rule = counting_rule(course)
        if one.state == GRADED:
            tries = self.queue.of(one.student, one.week)
            counted = self.counted(tries)
            view = self._brief(one, counted, policy, hidden=hidden)
            better = self._better(view, tries, policy, counted)
            possible = self.restorable(one, counted)
            return msgspec.structs.replace(view, rule=rule, better=better, restorable=possible)
        ahead, seconds = (0, 0.0)
        if one.state in (WAITING, RUNNING):
            ahead, seconds = self.dispatcher.estimate(one)
        return msgspec.structs.replace(
            self._brief(one, "", policy, hidden=hidden),
            ahead=ahead if one.state == WAITING else 0,
            seconds=round(seconds),
            grows=() if hidden or one.state != RUNNING else self._grows(one),
            newer=self._newer(one) if one.state == REPLACED else "",
            rule=rule,
        )

    def _better(
        self, view: TryView, tries: Sequence[Try], policy: Immediate, counted: str
    ) -> Better | None:
        zone = self.courses.now.zone
        others = {t.receipt: t for t in tries if t.receipt != view.receipt}
        results = [
            (receipt, in_short(t.received, zone), self._told(t, policy, hidden=t.held))
            for receipt, t in others.items()
        ]
        best = better_of(view.told, results)
        if best is None:
            return None
        possible = self.restorable(others[best.receipt], counted)
        return msgspec.structs.replace(best, restorable=possible)

    def _brief(
        self, one: Try, counted: str, policy: Immediate | None = None, *, hidden: bool | None = None
    ) -> TryView:
        """Return what a list of submissions shows of one. `counted`: the receipt that counts."""
        course, week = self.courses.now, self.courses.week(one.week)
        hidden = one.held if hidden is None else hidden
        seen = self._told(one, policy or course.registry.immediate, hidden=hidden)
        refused = seen is not None and seen.verdict == Ending.REFUSED
        return TryView(
            receipt=one.receipt,
            student=one.student,
            week=one.week,
            title=week.title if week else one.week,
            state=one.state,
            words="Not accepted" if refused else _WORDS[one.state],
            received=in_words(_moment(one.received, course), seconds=True),
            when=in_short(one.received, course.zone),
            digest=one.digest,
            door=one.door,
            held=one.held,
            why=self._why_refused(week) if refused else self._why(course, one) if hidden else "",
            told=seen,
            counts=one.receipt == counted,
        )

    def _told(self, one: Try, policy: Immediate, *, hidden: bool) -> Told | None:
        week = self.courses.week(one.week)
        result = self.queue.result(one.receipt) if one.state == GRADED and week else None
        return told(result, week, policy, held=hidden) if result and week else None

    def counted(self, tries: Sequence[Try]) -> str:
        """Return the receipt that counts, or "" if that is not known yet."""
        course = self.courses.now
        graded = (one for one in sorted(tries, key=precedence, reverse=True) if one.state == GRADED)
        newest = next((one for one in graded if self._accepted(one)), None)
        week = self.courses.week(newest.week) if newest else None
        if newest is None or week is None:
            return ""
        history = history_of(course, week, newest.student)
        current = history.entry(history.current)
        fresh = newest.chosen > newest.received or not is_recorded(history, newest)
        if current is None or (fresh and not overrules(history, newest)):
            return newest.receipt if course.registry.counts == "latest" else ""
        return next(
            (t.receipt for t in tries if format_received(t.received) == current.handed_in), ""
        )

    def restorable(self, one: Try, counted: str) -> bool:
        """Return True if the student may make this submission count instead of `counted`."""
        course, week = self.courses.now, self.courses.week(one.week)
        return (
            course.registry.counts == "latest"
            and one.receipt != counted
            and self._accepted(one)
            and week is not None
            and not is_returned(course, week, one.student)
        )

    def _accepted(self, one: Try) -> bool:
        result = self.queue.result(one.receipt)
        return result is not None and result.verdict is Ending.GRADED

    def _why_refused(self, week: Week | None) -> str:
        return _WHY["refused"] if week is not None and week.questions else ""

    def _why(self, course: Course, one: Try) -> str:
        if course.registry.immediate.show == "nothing":
            return _WHY["nothing"]
        week = self.courses.week(one.week)
        more = self.courses.more_time(one.student, one.week)
        now = standing(course, week, one.student, [], one.counted, more) if week else None
        if now and now.why == "due":
            return _WHY["due"]
        renewed = course.registry.immediate.per != "week"
        return f"{_WHY['tries']} {_AGAIN}" if renewed else _WHY["tries"]

    def _grows(self, one: Try) -> tuple[Growth, ...]:
        """Return how many checks of each exercise have run, and not how they ended.

        Grading may still fail because of a system error, and would then show results for nothing.
        """
        grown = dict(self.news.grown.get(one.receipt, {}))
        week = self.courses.week(one.week)
        found = []
        for exercise in week.exercises if week and grown else ():
            ran = grown.get(exercise.name, 0)
            found.append(Growth(exercise.name, ran, f"{ran} checks ran" if ran else "not yet"))
        return tuple(found)

    def _newer(self, one: Try) -> str:
        tries = self.queue.of(one.student, one.week)
        return next((t.receipt for t in tries if t.number > one.number), "")


def is_returned(course: Course, week: Week, student: str) -> bool:
    """Return whether the feedback of a week was made and may be fetched."""
    from ..nbgrader.status import returned

    return returned(Workspace(course), week, student)


def as_json(view: TryView, standing: TriesLeft | None = None) -> dict[str, Any]:
    """What `autograder submit` reads."""
    data: dict[str, Any] = msgspec.to_builtins(view)
    if standing is not None:
        data["left"], data["tries"] = standing.left, standing.tries
    return data


def in_words(moment: dt.datetime, *, seconds: bool = False) -> str:
    """Such as `Monday 18 January, 23:59 CET`."""
    clock = f"{moment:%H:%M:%S}" if seconds else f"{moment:%H:%M}"
    return f"{moment:%A} {moment.day} {moment:%B}, {clock} {moment.tzname()}"


def in_short(received: float, zone: dt.tzinfo) -> str:
    """Such as `18 January, 14:03`."""
    moment = dt.datetime.fromtimestamp(received, zone)
    return f"{moment.day} {moment:%B}, {moment:%H:%M}"


def _moment(received: float, course: Course) -> dt.datetime:
    return dt.datetime.fromtimestamp(received, course.zone)
