"""Which submission the records have in place, where the queue alone does not know it.

The instructor may have restored another submission than the newest one (`autograder restore`) or
collected a newer one from a learning platform; and where the best submission counts, the gradebook
decides after deductions for late work.
"""

from __future__ import annotations

import datetime as dt

from ..model.course import Course, Week
from ..model.errors import NbgraderError
from ..model.timestamps import format_timestamp
from ..nbgrader.history import History, read_history
from .queue import Try


def format_received(received: float) -> str:
    """Format when a submission was received, in seconds of UTC, as nbgrader's timestamp."""
    return format_timestamp(dt.datetime.fromtimestamp(received, dt.UTC))


def history_of(course: Course, week: Week, student: str) -> History:
    try:
        return read_history(course, week, student)
    except NbgraderError:
        return History()  # recording reports what is damaged


def is_recorded(history: History, one: Try) -> bool:
    return any(e.handed_in == format_received(one.received) for e in history.entries)


def overrules(history: History, newest: Try) -> bool:
    """Return True if another submission than the newest of the queue is the one to build on."""
    base = history.base
    if base is None or newest.chosen > newest.received:
        return False
    own = format_received(newest.received)
    restored = history.restored and is_recorded(history, newest)
    return base.handed_in != own and (restored or base.handed_in > own)
