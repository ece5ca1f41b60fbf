"""`autograder site` on a terminal."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from ....model.course.loader import Course
from ....model.errors import KitError
from ....site.build import build_site
from ....terminal.console import terminal


def run_site(course: Course, out: Path, at: str | None) -> None:
    """Make the site and say where it is; `at`: as it will be then."""
    now = _moment(course, at) if at else None
    with terminal(stderr=True).status("making the site") as shown:
        built = build_site(
            course, out, now=now, on_week=lambda name: shown.update(f"running {name}")
        )
    count = len(built.weeks)
    print(f"{built.folder / 'index.html'}: {count} {'week' if count == 1 else 'weeks'}")
    if built.waiting:
        print(f"Not released yet, so not on it: {', '.join(built.waiting)}")


def _moment(course: Course, at: str) -> dt.datetime:
    try:
        return course.localized(dt.datetime.fromisoformat(at))
    except ValueError:
        raise KitError(f"--at {at!r} is no date such as 2027-02-01") from None
