"""Compute late penalties: how late a submission is, slip days, and the deduction.

The rules of `late` in course.yaml:

- Time counts from the due date, or from the end of the student's extension. Submissions within the
  grace period are on time. Later, every started day (or hour) counts, measured from the end of the
  grace period.
- A day is a calendar day in the course's time zone: after a due time of 23:59, one day late ends at
  23:59 even if daylight saving time starts or ends in between. An hour is 60 minutes.
- Each slip day cancels one started day. Slip days are used automatically in the order of the due
  dates, until the student's budget for the course is spent.
- Each remaining day (or hour) costs `percent` of the score, down to `floor`.
"""

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..message_text import plural
from ..report.scoring import rounded
from .registry import Course, Late, Week

_HOUR = dt.timedelta(hours=1)
_MINUTE = dt.timedelta(minutes=1)


@dataclass(frozen=True)
class Lateness:
    """The lateness of one submission and its effect on the score, rounded to `decimals`."""

    policy: Late
    late: str = ""  # such as "2 days 3 h", or "" if the submission was on time
    forgiven: bool = False  # True if the submission was late, but within the grace period
    extended: bool = False
    days: int = 0  # started days after the grace period, including slip days
    slip_days: int = 0  # slip days used for this submission
    units: int = 0  # days or hours that cost points
    decimals: int = 2

    @property
    def share(self) -> float:
        """The share of the score that the submission keeps."""
        kept = 100 - self.policy.percent * self.units
        return max(kept, self.policy.floor if self.units else 100.0) / 100

    def kept(self, score: float) -> float:
        return rounded(score * self.share, self.decimals)

    def penalty(self, score: float) -> float:
        """Return the deducted points, which are never negative."""
        return max(0.0, rounded(rounded(score, self.decimals) - self.kept(score), self.decimals))

    def sentence(self, score: float) -> str:
        """Explain the computation in one line; return "" if the submission was on time."""
        if not self.late:
            return ""
        parts = [f"{self.late} late" + (" (after your extension)" if self.extended else "")]
        if self.forgiven:
            return f"{parts[0]}, within the grace period: no penalty"
        if self.slip_days:
            parts.append(f"{plural(self.slip_days, 'slip day')} used")
        if not self.units:
            return f"{', '.join(parts)}: no penalty"
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
    """Return the lateness of one student's submissions by week.

    handed_in: maps weeks to submission times with a time zone
    more: maps weeks to the additional time that nbgrader's gradebook grants
    Pass all weeks of a student in one call, because the student has one budget of slip days.
    """
    policy = course.registry.late or Late(percent=0)
    found: dict[str, Lateness] = {}
    budget = policy.slip_days
    for week in sorted(course.weeks, key=lambda w: course.localized(w.due)):
        if week.name not in handed_in:
            continue
        due = due_for(course, week, student, (more or {}).get(week.name, dt.timedelta()))
        extended = due > course.localized(week.due)
        on_time = Lateness(policy, extended=extended, decimals=course.registry.decimals)
        handed = handed_in[week.name].astimezone(course.zone)
        found[week.name] = _lateness_of(on_time, due, handed, budget)
        budget -= found[week.name].slip_days
    return found


def due_for(course: Course, week: Week, student: str, more: dt.timedelta) -> dt.datetime:
    """Return a student's due date after the longest extension, in the course's time zone."""
    due = course.localized(week.due).astimezone(course.zone)
    granted = [(due.astimezone(dt.UTC) + more).astimezone(course.zone)]
    if course.registry.late:
        granted += [
            course.localized(e.until).astimezone(course.zone)
            for e in course.registry.late.extensions
            if (e.student, e.week) == (student, week.name)
        ]
    return max(due, *granted, key=lambda moment: moment.astimezone(dt.UTC))


def _lateness_of(on_time: Lateness, due: dt.datetime, handed: dt.datetime, budget: int) -> Lateness:
    if _elapsed(due, handed) <= dt.timedelta():
        return on_time
    late, grace = _in_words(due, handed), dt.timedelta(minutes=on_time.policy.grace_minutes)
    if _elapsed(due, handed) <= grace:
        return replace(on_time, late=late, forgiven=True)
    days = _started_days(due, handed, grace)
    slip = min(budget, days)
    if on_time.policy.per == "day" or slip == days:
        units = days - slip
    else:
        rest = _elapsed(due + dt.timedelta(days=slip), handed) - grace
        units = math.ceil(rest / _HOUR)
    return replace(on_time, late=late, days=days, slip_days=slip, units=units)


def _elapsed(start: dt.datetime, end: dt.datetime) -> dt.timedelta:
    """Return the elapsed time. `end - start` would ignore changes of daylight saving time."""
    return end.astimezone(dt.UTC) - start.astimezone(dt.UTC)


def _started_days(due: dt.datetime, handed: dt.datetime, grace: dt.timedelta) -> int:
    """Return the shortest extension, in whole days, with which the work would be on time."""
    # Start a day too low, because a change of daylight saving time alters the elapsed time.
    days = max(0, _elapsed(due, handed).days - 1)
    while _elapsed(due + dt.timedelta(days=days), handed) > grace:
        days += 1
    return days


def _in_words(due: dt.datetime, handed: dt.datetime) -> str:
    """Format lateness in days, hours and started minutes, such as `2 days 3 h` or `40 min`."""
    minutes_late = math.ceil(_elapsed(due, handed) / _MINUTE)
    handed = (due.astimezone(dt.UTC) + minutes_late * _MINUTE).astimezone(due.tzinfo)
    days = _started_days(due, handed, dt.timedelta())
    if _elapsed(due + dt.timedelta(days=days), handed) < dt.timedelta():
        days -= 1  # the last started day is not complete
    rest = _elapsed(due + dt.timedelta(days=days), handed)
    hours, minutes = rest // _HOUR, (rest % _HOUR) // _MINUTE
    parts = [plural(days, "day")] if days else []
    parts += [f"{hours} h"] if hours else []
    parts += [f"{minutes} min"] if minutes and not (days and hours) else []
    return " ".join(parts)


def _points(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".") if value % 1 else f"{value:.1f}"
