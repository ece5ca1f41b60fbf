"""A submission as a row of the queue, and its states."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa

WAITING, RUNNING, GRADED, REPLACED = "waiting", "running", "graded", "replaced"
COUNTED = (RUNNING, GRADED)


class QueuedSubmission(msgspec.Struct, frozen=True):
    """A row of the queue. Its files are stored separately, by digest (see tables.py)."""

    receipt: str
    student: str
    week: str
    channel: str
    digest: str
    received: float
    state: str
    withheld: bool = False
    counts_from: float = 0.0
    earlier: int = 0
    position: int = 0
    attempts: int = 0
    not_before: float = 0.0
    error: str = ""
    source: str | None = None
    number: int = 0
    restored: float = 0.0


def recency(submission: QueuedSubmission) -> tuple[float, int]:
    """Return the key that sorts submissions by recency; a restored one counts as recent."""
    return max(submission.received, submission.restored), submission.number


class Admission(NamedTuple):
    """A decision on a new submission: to withhold its result, and how long to delay grading."""

    withheld: bool = False
    wait: float = 0.0


def queued_submission(row: sa.Row[Any]) -> QueuedSubmission:
    fields = QueuedSubmission.__struct_fields__
    return QueuedSubmission(**{name: getattr(row, name) for name in fields})
