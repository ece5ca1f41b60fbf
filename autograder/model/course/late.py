"""Late work: how late, how many slip days, what it costs; pure arithmetic, to be shown.

The rules, as course.yaml states them under `late`:

- Time counts from the due date, or from the student's extension. Within the grace period nothing
  is late; after it every started day (or hour) counts, and each begins with the grace period too.
- A day is a day of the course's calendar: due at 23:59, one day late ends at 23:59, also where the
  clock is changed in between. An hour is an hour of the clock's own ticking.
- Slip days cancel started days. They are spent by themselves, week after week in the order of the
  due dates, until the student's budget for the course is gone.
- Each day (or hour) that is left takes `percent` off the score, down to the floor and no further.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..report.scoring import rounded
from .loader import Course, Late, Week

_HOUR = dt.timedelta(hours=1)
_MINUTE = dt.timedelta(minutes=1)


@dataclass(frozen=True)
class Lateness:
    """What one submission's time means for its score, which is rounded to `decimals`."""

    policy: Late
    late: str = ""  # how late in words, "" if it was in time
    forgiven: bool = False  # late, but within the grace period
    extended: bool = False
    slip_days: int = 0  # used here
    units: int = 0  # days or hours that cost something
    decimals: int = 2

    @property
    def share(self) -> float:
        """The part of the score that is kept."""
        kept = 100 - self.policy.percent * self.units
        return max(kept, self.policy.floor if self.units else 100.0) / 100

    def kept(self, score: float) -> float:
        return rounded(score * self.share, self.decimals)

    def penalty(self, score: float) -> float:
        """Points off, never negative."""
        return max(0.0, rounded(rounded(score, self.decimals) - self.kept(score), self.decimals))

    def sentence(self, score: float) -> str:
        """The arithmetic in one line; empty if the submission was in time."""
        if not self.late:
            return ""
        parts = [f"{self.late} late" + (" (after your extension)" if self.extended else "")]
        if self.forgiven:
            return f"{parts[0]}, within the grace period: nothing is taken off"
        if self.slip_days:
            parts.append(f"{_counted(self.slip_days, 'slip day')} used")
        if not self.units:
            return f"{', '.join(parts)}: nothing is taken off"
        parts.append(f"{self.policy.percent:g} % per {self.policy.per}")
        if 100 - self.policy.percent * self.units < self.policy.floor > 0:
            parts.append(f"but at least {self.policy.floor:g} % is kept")
        score = rounded(score, self.decimals)
        kept = f"{_points(score)} x {self.share:.4g} = {_points(self.kept(score))}"
        return f"{', '.join(parts)}: {kept}"


def lateness(
    course: Course,
    student: str,
    handed_in: Mapping[str, dt.datetime],
    more: Mapping[str, dt.timedelta] | None = None,
) -> dict[str, Lateness]:
    """What each week's time of handing in means for one student, by the week's name.

    `handed_in` holds aware datetimes; `more` what nbgrader's gradebook grants beyond the due date.
    All weeks of the student belong in one call, because slip days are counted over the course.
    """
    policy = course.registry.late or Late(percent=0)
    found: dict[str, Lateness] = {}
    budget = policy.slip_days
    for week in sorted(course.weeks, key=lambda w: course.localized(w.due)):
        if week.name not in handed_in:
            continue
        due = due_for(course, week, student, (more or {}).get(week.name, dt.timedelta()))
        extended = due > course.localized(week.due)
        one = _one(policy, due, handed_in[week.name].astimezone(course.zone), budget, extended)
        found[week.name] = replace(one, decimals=course.registry.decimals)
        budget -= one.slip_days
    return found


def due_for(
    course: Course, week: Week, student: str, more: dt.timedelta = dt.timedelta()
) -> dt.datetime:
    """When a week is due for a student, in the course's zone: the latest of what was granted."""
    due = course.localized(week.due).astimezone(course.zone)
    granted = [(due.astimezone(dt.UTC) + more).astimezone(course.zone)]
    if course.registry.late:
        granted += [
            course.localized(e.until).astimezone(course.zone)
            for e in course.registry.late.extensions
            if (e.student, e.week) == (student, week.name)
        ]
    return max(due, *granted, key=lambda moment: moment.astimezone(dt.UTC))


def _one(
    policy: Late, due: dt.datetime, handed: dt.datetime, budget: int, extended: bool
) -> Lateness:
    if _elapsed(due, handed) <= dt.timedelta():
        return Lateness(policy, extended=extended)
    words = _in_words(due, handed)
    grace = dt.timedelta(minutes=policy.grace_minutes)
    if _elapsed(due, handed) <= grace:
        return Lateness(policy, words, forgiven=True, extended=extended)
    days = _started_days(due, handed, grace)
    slip = min(budget, days)
    if policy.per == "day" or slip == days:
        units = days - slip
    else:
        rest = _elapsed(due + dt.timedelta(days=slip), handed) - grace
        units = math.ceil(rest / _HOUR)
    return Lateness(policy, words, False, extended, slip, units)


def _elapsed(start: dt.datetime, end: dt.datetime) -> dt.timedelta:
    """The time that has passed. (Python compares two datetimes of one zone by their clocks.)"""
    return end.astimezone(dt.UTC) - start.astimezone(dt.UTC)


def _started_days(due: dt.datetime, handed: dt.datetime, grace: dt.timedelta) -> int:
    """The least number of calendar days by which the due date would have to move."""
    days = max(0, _elapsed(due, handed).days - 1)  # the clock moves by less than a day
    while _elapsed(due + dt.timedelta(days=days), handed) > grace:
        days += 1
    return days


def _in_words(due: dt.datetime, handed: dt.datetime) -> str:
    """Such as `2 days 3 h` or `40 min`, minutes left out beside days and hours.

    Calendar days come first, then what passed after them; a started minute counts.
    """
    minutes_late = math.ceil(_elapsed(due, handed) / _MINUTE)
    handed = (due.astimezone(dt.UTC) + minutes_late * _MINUTE).astimezone(due.tzinfo)
    days = _started_days(due, handed, dt.timedelta())
    if _elapsed(due + dt.timedelta(days=days), handed) < dt.timedelta():
        days -= 1  # the last of them is not over
    rest = _elapsed(due + dt.timedelta(days=days), handed)
    hours, minutes = rest // _HOUR, (rest % _HOUR) // _MINUTE
    parts = [_counted(days, "day")] if days else []
    parts += [f"{hours} h"] if hours else []
    parts += [f"{minutes} min"] if minutes and not (days and hours) else []
    return " ".join(parts)


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _points(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".") if value % 1 else f"{value:.1f}"
