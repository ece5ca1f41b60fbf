"""nbgrader's timestamps: `2027-01-20 12:00:00.000000 UTC`."""

from __future__ import annotations

import datetime as dt


def format_timestamp(moment: dt.datetime) -> str:
    """Format a time as nbgrader does; a naive one is taken as UTC."""
    return f"{_aware(moment).astimezone(dt.UTC):%Y-%m-%d %H:%M:%S.%f} UTC"


def parse_timestamp(text: str) -> dt.datetime | None:
    """Parse nbgrader's timestamp as an aware time, or return None if it is not a time."""
    try:
        return _aware(dt.datetime.fromisoformat(text.replace(" UTC", "+00:00")))
    except ValueError:
        return None


def _aware(moment: dt.datetime) -> dt.datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
