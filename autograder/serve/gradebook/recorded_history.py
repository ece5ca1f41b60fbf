"""Find submissions that count although they are not the newest in the queue.

The instructor may have restored an earlier submission (`autograder restore`) or collected a newer
one from a learning platform. If the best submission counts, the gradebook decides after deductions
for late work.
"""

from __future__ import annotations

import datetime as dt

from ...model.course import Course, Week
from ...model.errors import NbgraderError
from ...model.submission_files import format_timestamp
from ...nbgrader.collect.history import History, read_history
from ..queue.queued_submission import QueuedSubmission


def format_received(received: float) -> str:
    """Format a time (seconds since the epoch) as nbgrader's timestamp."""
    return format_timestamp(dt.datetime.fromtimestamp(received, dt.UTC))


def history_of(course: Course, week: Week, student: str) -> History:
    try:
        return read_history(course, week, student)
    except NbgraderError:
        return History()  # recording reports the error


def is_recorded(history: History, submission: QueuedSubmission) -> bool:
    received = format_received(submission.received)
    return any(entry.handed_in == received for entry in history.entries)


def is_overruled(history: History, newest: QueuedSubmission) -> bool:
    """Return True if a new submission builds on a different one than the newest in the queue."""
    base = history.base
    if base is None or newest.restored > newest.received:
        return False
    received = format_received(newest.received)
    restored = history.restored and is_recorded(history, newest)
    return base.handed_in != received and (restored or base.handed_in > received)
