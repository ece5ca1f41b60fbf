"""Build the instructor's live view of recent mistakes, the queue and the grading processes."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from ..grading_process import GradingProcess
from ..queue import Graded
from ..recording import Ledger
from ..shared_state import SharedState
from ..tables import RUNNING, WAITING, QueuedSubmission
from .view_models import in_words, local_time

_HOUR = 3600.0
_MAX_ROWS = 60
_OF_A_PROCESS = ("number", "busy", "weeks", "mib", "deaths")


class StudentMistake(msgspec.Struct, frozen=True):
    """A student whose last `repetitions` results all show the same misconception."""

    student: str
    repetitions: int
    receipt: str


class RecentMistake(msgspec.Struct, frozen=True):
    """A misconception, and the students whose newest results show it."""

    week: str
    exercise: str
    title: str
    students: list[StudentMistake]


class ClassRow(msgspec.Struct, frozen=True):
    """A row of the table "Queue and latest results"."""

    submission: QueuedSubmission
    received: str
    score: float | None = None
    max_score: float = 0.0


class ClassView(msgspec.Struct, frozen=True):
    """The content of the class page. `longest_wait` is in seconds."""

    waiting: int
    running: int
    longest_wait: int
    graded: int  # in the last hour
    mistakes: list[RecentMistake]
    rows: list[ClassRow]
    processes: list[dict[str, Any]]
    incidents: list[str]


def class_view(
    state: SharedState, ledger: Ledger, processes: Sequence[GradingProcess]
) -> ClassView:
    """Return the content of the class page. This call blocks."""
    course, now = state.courses.now, state.queue.clock()
    recent = state.queue.recent_results(now - _HOUR)
    queued = state.queue.in_states(WAITING, RUNNING)
    waiting = [s for s in queued if s.state == WAITING]
    waits = [now - s.received for s in waiting if s.not_before <= now]

    def row(submission: QueuedSubmission, *scores: float) -> ClassRow:
        received = f"{local_time(submission.received, course):%H:%M:%S}"
        return ClassRow(submission, received, *scores)

    rows = [row(s) for s in queued]
    rows += [row(s, report.score, report.max_score) for s, report in reversed(recent)]
    incidents = [
        f"{in_words(local_time(i.since, course))}: {i.message}"
        for i in state.incidents.current.values()
    ]
    incidents += [
        f"{week}: {student} is not in the gradebook: {error}"
        for student, week, error in ledger.failures()
    ]
    return ClassView(
        waiting=len(waiting),
        running=sum(s.state == RUNNING for s in queued),
        longest_wait=round(max(waits, default=0.0)),
        graded=len(recent),
        mistakes=recent_mistakes(recent),
        rows=rows[:_MAX_ROWS],
        processes=[{name: getattr(p, name) for name in _OF_A_PROCESS} for p in processes],
        incidents=incidents,
    )


def recent_mistakes(recent: Iterable[Graded]) -> list[RecentMistake]:
    """Return the misconceptions in each student's newest result, most common first.

    The students with a misconception are sorted by the number of repetitions, largest first.

    recent: results, oldest first
    """
    in_a_row: dict[tuple[str, str], dict[tuple[str, str], int]] = {}
    receipts = {}
    for submission, report in recent:
        key = submission.student, submission.week
        before = in_a_row.get(key, {})
        mistakes = {(e.name, d.title) for e in report.exercises for d in e.explained}
        in_a_row[key] = {mistake: before.get(mistake, 0) + 1 for mistake in mistakes}
        receipts[key] = submission.receipt
    found: dict[tuple[str, str, str], list[StudentMistake]] = defaultdict(list)
    for (student, week), counts in in_a_row.items():
        for (exercise, title), repetitions in counts.items():
            mistake = StudentMistake(student, repetitions, receipts[student, week])
            found[week, exercise, title].append(mistake)
    return [
        RecentMistake(*key, sorted(students, key=lambda s: (-s.repetitions, s.student)))
        for key, students in sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    ]
