"""The instructor's live view: current difficulties of the class, the queue, and the machine."""

from __future__ import annotations

import os
import shutil
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec
import psutil

from ..gradebook.ledger import Ledger
from ..queue.grading_process import GradingProcess
from ..queue.queued_submission import (
    RUNNING,
    STUCK,
    WAITING,
    QueuedSubmission,
    RecentResult,
    ResultOutline,
)
from ..shared_state import SharedState
from .view_models import in_words, local_time

_HOUR = 3600.0
_MIN_REPETITIONS = 3  # results in a row with the same mistake
_MAX_ROWS = 60
_MEDIAN_SAMPLE = 200


class RecentMistake(msgspec.Struct, frozen=True):
    """A misconception and the students whose newest result has it."""

    week: str
    exercise: str
    title: str
    students: tuple[str, ...]


class StuckStudent(msgspec.Struct, frozen=True):
    """A student whose last results all have the same mistake."""

    student: str
    week: str
    exercise: str
    title: str
    repetitions: int
    receipt: str


class ClassRow(msgspec.Struct, frozen=True):
    """A submission in the table of the queue and the latest results."""

    submission: QueuedSubmission
    result: ResultOutline | None
    received: str


class ProcessView(msgspec.Struct, frozen=True):
    """A grading process."""

    number: int
    busy: str
    weeks: tuple[str, ...]
    mib: int
    deaths: int


class ClassView(msgspec.Struct, frozen=True):
    """The content of the class page."""

    waiting: int
    running: int
    longest_wait: int  # seconds
    graded: int  # in the last hour
    median: float  # seconds from submission to result in the last hour
    mistakes: tuple[RecentMistake, ...]
    stuck: tuple[StuckStudent, ...]
    rows: tuple[ClassRow, ...]
    processes: tuple[ProcessView, ...]
    load: str
    memory: str
    disk: str
    incidents: tuple[str, ...]


def class_view(
    state: SharedState, ledger: Ledger, processes: Sequence[GradingProcess]
) -> ClassView:
    """Return the view of the class at this moment. Blocks."""
    course, now = state.courses.now, state.queue.clock()
    recent = state.queue.recent_results(now - _HOUR)
    queued = state.queue.in_states(WAITING, RUNNING, STUCK)
    waiting = [s for s in queued if s.state == WAITING]
    waits = [now - s.received for s in waiting if s.not_before <= now]
    durations = [r.graded - r.submission.received for r in recent[-_MEDIAN_SAMPLE:]]
    listed: list[tuple[QueuedSubmission, ResultOutline | None]] = [(s, None) for s in queued]
    listed += [(r.submission, r.outline) for r in reversed(recent)]
    incidents = [
        f"{in_words(local_time(i.since, course))}: {i.message}"
        for i in state.incidents.current.values()
    ]
    incidents += [
        f"{week}: {student} is not in the gradebook: {error}"
        for student, week, error in ledger.failures()
    ]
    memory = psutil.virtual_memory()
    return ClassView(
        waiting=len(waiting),
        running=sum(s.state == RUNNING for s in queued),
        longest_wait=round(max(waits, default=0.0)),
        graded=len(recent),
        median=round(statistics.median(durations), 1) if durations else 0.0,
        mistakes=tuple(recent_mistakes(recent)),
        stuck=tuple(stuck_students(recent)),
        rows=tuple(
            ClassRow(s, outline, f"{local_time(s.received, course):%H:%M:%S}")
            for s, outline in listed[:_MAX_ROWS]
        ),
        processes=tuple(
            ProcessView(p.number, p.busy, tuple(p.weeks), p.mib, p.deaths) for p in processes
        ),
        load=f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores",
        memory=f"{memory.available / 2**30:.1f} of {memory.total / 2**30:.1f} GiB free",
        disk=f"{shutil.disk_usage(course.root).free / 2**30:.1f} GiB free",
        incidents=tuple(incidents),
    )


def recent_mistakes(recent: Iterable[RecentResult]) -> list[RecentMistake]:
    """Return the misconceptions in each student's newest result, the most common first."""
    newest = {(r.submission.student, r.submission.week): r.outline for r in recent}
    found: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for (student, week), outline in newest.items():
        for exercise, title in _mistakes(outline):
            found[week, exercise, title].append(student)
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    return [RecentMistake(*key, tuple(sorted(students))) for key, students in ordered]


def stuck_students(recent: Iterable[RecentResult]) -> list[StuckStudent]:
    """Return the students with the same mistake in all of their last three or more results."""
    by_student: dict[tuple[str, str], list[RecentResult]] = defaultdict(list)
    for result in recent:
        by_student[result.submission.student, result.submission.week].append(result)
    found = []
    for (student, week), own in by_student.items():
        receipt = own[-1].submission.receipt
        for exercise, title in _mistakes(own[-1].outline):
            repetitions = 0
            for result in reversed(own):
                if (exercise, title) not in _mistakes(result.outline):
                    break
                repetitions += 1
            if repetitions >= _MIN_REPETITIONS:
                found.append(StuckStudent(student, week, exercise, title, repetitions, receipt))
    return sorted(found, key=lambda s: -s.repetitions)


def _mistakes(outline: ResultOutline) -> set[tuple[str, str]]:
    return {(e.name, d.title) for e in outline.exercises for d in e.explained}
