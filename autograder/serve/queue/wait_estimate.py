"""Estimate how long a submission waits for its result.

The estimate is a time within which most recent submissions of the week were graded, times the
rounds of grading before this one. Submissions that arrive later may overtake it if their students
have had fewer results, so it grows with the recent arrival rate of such submissions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import sqlalchemy as sa

from .. import tables as t
from .queue import Queue
from .queued_submission import RUNNING, WAITING, QueuedSubmission

_FIRST_GUESS = 8.0  # seconds per submission, before any was graded
COLD_START = 15.0  # seconds until an engine for the week is ready
_QUANTILE = 0.8  # of the durations, which should be within the estimate
_SAMPLE = 40  # durations
_RECENT = 300.0  # seconds
_MAX_OVERTAKEN = 0.8  # share of the capacity that later submissions are assumed to take at most


def estimate_wait(
    queue: Queue, submission: QueuedSubmission, processes: int, *, warm: bool
) -> tuple[int, float]:
    """Return how many submissions are ahead, and the seconds until this one is graded.

    warm: an engine for the week exists
    """
    each = typical_duration(queue, submission.week)
    if submission.state == RUNNING:
        return 0, each
    ahead, running = queue_position(queue, submission)
    wait = (math.floor((ahead + running) / processes) + 1) * each
    if ahead:
        overtaken = overtaking_rate(queue, submission, _RECENT) * each / processes
        wait /= 1 - min(_MAX_OVERTAKEN, overtaken)
    pause = max(0.0, submission.not_before - queue.clock())
    return ahead, pause + wait + (0.0 if warm else COLD_START)


def typical_duration(queue: Queue, week: str) -> float:
    """Return the seconds within which 80 % of a week's recent submissions were graded."""
    same = t.results.c.receipt == t.submissions.c.receipt
    query = sa.select(t.results.c.seconds).where(same, t.submissions.c.week == week)
    query = query.order_by(t.results.c.graded.desc()).limit(_SAMPLE)
    durations: list[float] = sorted(queue.column(query))
    if not durations:
        return _FIRST_GUESS
    return max(1.0, durations[min(len(durations) - 1, int(len(durations) * _QUANTILE))])


def queue_position(queue: Queue, submission: QueuedSubmission) -> tuple[int, int]:
    """Return how many waiting submissions are ahead of one, and how many are being graded."""
    ahead = _sorts_before(submission, ("withheld", "earlier", "position"))
    ahead &= t.submissions.c.state == WAITING
    return _count(queue, ahead), _count(queue, t.submissions.c.state == RUNNING)


def overtaking_rate(queue: Queue, submission: QueuedSubmission, seconds: float) -> float:
    """Return the recent arrival rate (per second) of higher-priority submissions."""
    first = _sorts_before(submission, ("withheld", "earlier"))
    first &= t.submissions.c.received > queue.clock() - seconds
    return _count(queue, first) / seconds


def _sorts_before(submission: QueuedSubmission, columns: Sequence[str]) -> sa.ColumnElement[bool]:
    values = (sa.literal(getattr(submission, column)) for column in columns)
    return sa.tuple_(*(t.submissions.c[column] for column in columns)) < sa.tuple_(*values)


def _count(queue: Queue, condition: sa.ColumnElement[bool]) -> int:
    return int(queue.value(sa.select(sa.func.count()).where(condition)))
