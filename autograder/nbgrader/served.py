"""What a service has settled, so that `collect` does not take it again.

Where the best try counts, the newest one in the exchange is not what stands in submitted/.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from ..files.atomic import replace_file
from ..model.course import Course, Week


def served(course: Course, week: Week) -> dict[str, str]:
    """By student, when the newest try was handed in that a service has settled."""
    try:
        return msgspec.json.decode(_path(course, week).read_bytes(), type=dict[str, str])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return {}


def note_served(course: Course, week: Week, student: str, handed_in: str) -> None:
    path = _path(course, week)
    path.parent.mkdir(exist_ok=True, mode=0o700)
    replace_file(path, msgspec.json.encode(served(course, week) | {student: handed_in}))


def _path(course: Course, week: Week) -> Path:
    return course.state / "served" / f"{week.name}.json"
