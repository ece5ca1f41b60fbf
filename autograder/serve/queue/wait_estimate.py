"""Estimate how long a submission waits for its result.

The estimate is a time within which most recent submissions of the week were graded, times the
rounds of grading before this one.
"""

from __future__ import annotations

import sqlalchemy as sa

from .. import tables as t
from .queue import Queue
from .queued_submission import RUNNING, WAITING, QueuedSubmission

_FIRST_GUESS = 8.0  # seconds per submission, before any was graded
_QUANTILE = 0.8  # of the durations, which should be within the estimate
_SAMPLE = 40  # durations


def estimate_wait(queue: Queue, submission: QueuedSubmission, processes: int) -> tuple[int, float]:
    """Return how many submissions are ahead, and the seconds until this one is graded."""
    each = _typical_duration(queue, submission.week)
    if submission.state == RUNNING:
        return 0, each
    ahead, running = queue_position(queue, submission)
    rounds = (ahead + running) // processes + 1
    pause = max(0.0, submission.not_before - queue.clock())
    return ahead, pause + rounds * each


def _typical_duration(queue: Queue, week: str) -> float:
    same = t.results.c.receipt == t.submissions.c.receipt
    query = sa.select(t.results.c.seconds).where(same, t.submissions.c.week == week)
    query = query.order_by(t.results.c.graded.desc()).limit(_SAMPLE)
    durations: list[float] = sorted(queue.read(query).scalars())
    return max(1.0, durations[int(len(durations) * _QUANTILE)]) if durations else _FIRST_GUESS


def queue_position(queue: Queue, submission: QueuedSubmission) -> tuple[int, int]:
    """Return how many waiting submissions are ahead of one, and how many are being graded."""
    columns = ("withheld", "earlier", "position")
    own = (sa.literal(getattr(submission, column)) for column in columns)
    first = sa.tuple_(*(t.submissions.c[column] for column in columns)) < sa.tuple_(*own)
    state = t.submissions.c.state
    ahead, running = (
        queue.read(sa.select(sa.func.count()).where(condition)).scalar_one()
        for condition in (first & (state == WAITING), state == RUNNING)
    )
    return ahead, running
