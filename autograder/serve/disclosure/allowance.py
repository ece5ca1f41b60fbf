"""How many results a student may still see: the rules of `immediate` in course.yaml.

Every submission counts. The rules decide only which results are visible before feedback is
released: a number per hour, day or week, with a cooldown between two submissions, until the due
date. The results of further submissions are withheld: these submissions are graded last, and their
results are shown with the feedback.

Attempts are counted by the service's own clock; the time in a submission decides only whether it
is late. A submission uses up an attempt when its grading begins. Its outcome is
invisible until its result exists, so a system error costs no attempt.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ...model.course import Course, Immediate, Week
from ...model.course.late import due_for
from ..queue.queued_submission import COUNTED, QueuedSubmission

Reason = Literal["", "tries", "due", "nothing"]
_HOUR = 3600.0


@dataclass(frozen=True)
class Allowance:
    """The number of results of a week that a student may currently see."""

    left: int  # visible results left in this hour, day or week
    tries: int  # the limit
    why: Reason  # why the result of a submission made now is withheld, or ""
    wait: float  # seconds of cooldown left
    due: dt.datetime

    @property
    def withheld(self) -> bool:
        return self.why != ""


def allowance(
    course: Course,
    week: Week,
    student: str,
    earlier: Sequence[QueuedSubmission],
    now: float,
    extension: dt.timedelta = dt.timedelta(),
) -> Allowance:
    """Return the allowance for a submission at `now` (seconds since the epoch).

    earlier: the student's earlier submissions for the week
    extension: extra time that the gradebook grants
    """
    policy = course.registry.immediate
    moment = dt.datetime.fromtimestamp(now, course.zone)
    due = due_for(course, week, student, extension)
    visible = [s for s in earlier if not s.withheld and s.state in COUNTED]
    start = _period_start(policy, moment)
    left = max(0, policy.tries - sum(s.counts_from >= start for s in visible))
    why: Reason = ""
    if policy.show == "nothing":
        why = "nothing"
    elif policy.until == "due" and moment > due:
        why = "due"
    elif not left:
        why = "tries"
    return Allowance(
        left=left,
        tries=policy.tries,
        why=why,
        wait=_cooldown(policy, visible, now) if not why else 0.0,
        due=due,
    )


def _period_start(policy: Immediate, moment: dt.datetime) -> float:
    if policy.per == "week":
        return float("-inf")
    if policy.per == "hour":
        return moment.timestamp() - _HOUR
    return moment.replace(hour=0, minute=0, second=0, microsecond=0, fold=0).timestamp()


def _cooldown(policy: Immediate, visible: Sequence[QueuedSubmission], now: float) -> float:
    pause = policy.cooldown_minutes * 60
    if not visible or not pause:
        return 0.0
    elapsed = now - max(s.counts_from for s in visible)
    # at most `pause`, even if the clock was set back
    return min(pause, max(0.0, pause - elapsed))


def counting_rule(course: Course) -> str:
    """Explain to the student which submission counts."""
    if course.registry.counts == "best":
        return "Your best submission counts, after deductions for late work."
    return "Your latest submission counts, even if an earlier one scored higher."
