"""The instructor's live view: who is stuck on what now, the line, the machine."""

from __future__ import annotations

import os
import shutil
import statistics
from collections import Counter
from collections.abc import Sequence

import msgspec

from ..courses import Courses
from ..gradebook.ledger import Ledger
from ..problems import Troubles
from ..queue.dispatch import Dispatcher
from ..queue.leases import RUNNING, STUCK, WAITING
from ..queue.queue import GRADED, Glance, Queue, Try
from .view_models import _moment, in_words

_HOUR = 3600.0
_STUCK_AFTER = 3  # tries in a row with the same mistake


class RecentMistake(msgspec.Struct, frozen=True):
    """A misconception and who has it now."""

    week: str
    exercise: str
    title: str
    students: tuple[str, ...]


class StuckOn(msgspec.Struct, frozen=True):
    """A student who met the same mistake try after try."""

    student: str
    week: str
    exercise: str
    title: str
    tries: int
    receipt: str


class ClassRow(msgspec.Struct, frozen=True):
    receipt: str
    student: str
    week: str
    when: str
    words: str
    score: str
    trouble: str
    stuck: bool


class LaneView(msgspec.Struct, frozen=True):
    number: int
    busy: str
    weeks: tuple[str, ...]
    mib: int
    deaths: int


class ClassView(msgspec.Struct, frozen=True):
    """What the page of the class shows."""

    waiting: int
    running: int
    oldest: int  # seconds that the first in line has waited
    graded: int  # in the last hour
    median: float  # seconds from hand-in to result in the last hour
    mistakes: tuple[RecentMistake, ...]
    stuck: tuple[StuckOn, ...]
    rows: tuple[ClassRow, ...]
    lanes: tuple[LaneView, ...]
    load: str
    memory: str
    disk: str
    troubles: tuple[str, ...]


def class_view(
    courses: Courses, queue: Queue, ledger: Ledger, dispatcher: Dispatcher, troubles: Troubles
) -> ClassView:
    """Everything at this moment. Blocks."""
    course, now = courses.now, queue.clock()
    recent = queue.glances(now - _HOUR)
    in_line = queue.all(WAITING, RUNNING, STUCK)
    waiting = [t for t in in_line if t.state == WAITING]
    waits = [t.received for t in waiting if t.not_before <= now]
    rows = [_row(t, None, courses) for t in in_line]
    rows += [_row(t, r, courses) for t, r in reversed(recent)]
    said = [f"{in_words(_moment(t.since, course))}: {t.what}" for t in troubles.now.values()]
    said += [
        f"{w}: {s} is not in the gradebook: {why}" for s, w, why in ledger.unsettled_troubles()
    ]
    return ClassView(
        waiting=len(waiting),
        running=sum(t.state == RUNNING for t in in_line),
        oldest=round(max(0.0, now - min(waits))) if waits else 0,
        graded=len(recent),
        median=_median(queue, recent),
        mistakes=mistakes(recent),
        stuck=stuck_on(recent),
        rows=tuple(rows[:60]),
        lanes=tuple(
            LaneView(lane.number, lane.busy, tuple(lane.weeks), lane.mib, lane.deaths)
            for lane in dispatcher.lanes
        ),
        load=f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores",
        memory=_memory(),
        disk=f"{shutil.disk_usage(course.root).free / 2**30:.1f} GiB free",
        troubles=tuple(said),
    )


def mistakes(recent: Sequence[tuple[Try, Glance]]) -> tuple[RecentMistake, ...]:
    """The named mistakes in everybody's newest result, the most common first."""
    newest = {(one.student, one.week): report for one, report in recent}
    found: dict[tuple[str, str, str], list[str]] = {}
    for (student, week), report in newest.items():
        for exercise in report.exercises:
            for named in exercise.explained:
                found.setdefault((week, exercise.name, named.title), []).append(student)
    ordered = sorted(found.items(), key=lambda one: (-len(one[1]), one[0]))
    return tuple(RecentMistake(*key, tuple(sorted(students))) for key, students in ordered)


def stuck_on(recent: Sequence[tuple[Try, Glance]]) -> tuple[StuckOn, ...]:
    """Who has had the same mistake in every one of their last few results."""
    by_student: dict[tuple[str, str], list[tuple[Try, Glance]]] = {}
    for one, report in recent:
        by_student.setdefault((one.student, one.week), []).append((one, report))
    found = []
    for (student, week), own in by_student.items():
        times: Counter[tuple[str, str]] = Counter()
        for _, report in reversed(own):
            had = {(e.name, d.title) for e in report.exercises for d in e.explained}
            fresh = {key for key in had if times[key] == _run(times)}
            if not fresh:
                break
            times.update(fresh)
        for (exercise, title), number in times.items():
            if number >= _STUCK_AFTER:
                found.append(StuckOn(student, week, exercise, title, number, own[-1][0].receipt))
    return tuple(sorted(found, key=lambda s: -s.tries))


def _run(times: Counter[tuple[str, str]]) -> int:
    """How many results were looked at: the highest count, for each is had in all of them or not."""
    return max(times.values(), default=0)


def _row(one: Try, report: Glance | None, courses: Courses) -> ClassRow:
    words = {WAITING: "waiting", RUNNING: "being graded", STUCK: "stuck", GRADED: "graded"}
    score = f"{report.score:g} of {report.max_score:g}" if report else ""
    when = f"{_moment(one.received, courses.now):%H:%M:%S}"
    shown = words.get(one.state, one.state)
    return ClassRow(
        one.receipt, one.student, one.week, when, shown, score, one.trouble, one.state == STUCK
    )


def _median(queue: Queue, recent: Sequence[tuple[Try, Glance]]) -> float:
    waits = queue.waits([one.receipt for one, _ in recent[-200:]])
    return round(statistics.median(waits), 1) if waits else 0.0


def _memory() -> str:
    import psutil

    memory = psutil.virtual_memory()
    return f"{memory.available / 2**30:.1f} of {memory.total / 2**30:.1f} GiB free"
