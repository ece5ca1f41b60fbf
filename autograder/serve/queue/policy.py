"""What a student is told of a hand-in, and how often: `immediate` in course.yaml, as arithmetic.

Whatever is handed in counts, always. The policy decides only which results are told before feedback
is returned: so many in each hour, day or week, with a pause between two, and until the due date.
What is handed in beyond that is `held`: graded after the others, and shown with the feedback.

Attempts are counted by the service's own clock. The time that a submission says of itself decides
only whether it is late. A submission uses up an attempt once it is being graded; until its result
exists nothing about its outcome is shown, so one that the service fails on costs nothing.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ...model.course.late import due_for
from ...model.course.loader import Course, Immediate, Week
from .queue import COUNTED, Try

Why = Literal["", "tries", "due", "nothing"]
_HOUR = 3600.0


@dataclass(frozen=True)
class TriesLeft:
    """Where a student stands with one week at this moment."""

    left: int  # results that will be told in this hour, day or week
    tries: int  # of so many
    why: Why  # why a result of what is handed in now is not told, if it is not
    wait: float  # seconds that it waits for the cooldown
    due: dt.datetime
    renews: dt.datetime | None  # when there are more tries

    @property
    def held(self) -> bool:
        return self.why != ""


def standing(
    course: Course,
    week: Week,
    student: str,
    earlier: Sequence[Try],
    now: float,
    more: dt.timedelta = dt.timedelta(),
) -> TriesLeft:
    """What would become of a try that is handed in now; `earlier` are the student's of the week.

    more: what the gradebook grants beyond the due date.
    """
    policy = course.registry.immediate
    moment = dt.datetime.fromtimestamp(now, course.zone)
    due = due_for(course, week, student, more)
    used = [one for one in earlier if not one.held and one.state in COUNTED]
    start = _window(policy, moment)
    counted = [one for one in used if one.counted >= start]
    left = max(0, policy.tries - len(counted))
    why: Why = ""
    if policy.show == "nothing":
        why = "nothing"
    elif policy.until == "due" and moment > due:
        why = "due"
    elif not left:
        why = "tries"
    return TriesLeft(
        left=left,
        tries=policy.tries,
        why=why,
        wait=_cooldown(policy, used, now) if not why else 0.0,
        due=due,
        renews=_renewal(policy, moment, counted) if not left else None,
    )


def _window(policy: Immediate, moment: dt.datetime) -> float:
    """When the hour or the day began in which tries are counted."""
    if policy.per == "week":
        return float("-inf")
    if policy.per == "hour":
        return moment.timestamp() - _HOUR
    return _midnight(moment).timestamp()


def _midnight(moment: dt.datetime) -> dt.datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)


def _renewal(policy: Immediate, moment: dt.datetime, counted: Sequence[Try]) -> dt.datetime | None:
    if policy.per == "week":
        return None
    if policy.per == "day":
        return _midnight(moment) + dt.timedelta(days=1)
    oldest = min(one.counted for one in counted)
    return dt.datetime.fromtimestamp(oldest + _HOUR, moment.tzinfo)


def _cooldown(policy: Immediate, used: Sequence[Try], now: float) -> float:
    """How long it still lasts. A clock that was put back makes it no longer than it is."""
    pause = policy.cooldown_minutes * 60
    if not used or not pause:
        return 0.0
    since = now - max(one.counted for one in used)
    return min(pause, max(0.0, pause - since))


def counting_rule(course: Course) -> str:
    """Say which of a student's submissions counts."""
    if course.registry.counts == "best":
        return "Your best submission counts, after deductions for late work."
    return "Your latest submission counts, even if an earlier one scored higher."
