"""What the last `collect` of a week found odd; kept for `status` and the report."""

from __future__ import annotations

import msgspec

from ...files.atomic import replace_file
from ...model.course.loader import Course, Week


class Oddities(msgspec.Struct, frozen=True):
    """Students are names on submissions; `foreign` says which user owns theirs."""

    foreign: dict[str, str] = {}
    notes: list[str] = []


def read_collected(course: Course, week: Week) -> Oddities:
    """Empty if nothing was collected."""
    try:
        data = (course.state / "collected" / f"{week.name}.json").read_bytes()
        return msgspec.json.decode(data, type=Oddities)
    except (FileNotFoundError, msgspec.MsgspecError, UnicodeDecodeError):
        return Oddities()


def keep_collected(course: Course, week: Week, found: Oddities) -> None:
    folder = course.state / "collected"
    folder.mkdir(exist_ok=True, mode=0o700)
    replace_file(folder / f"{week.name}.json", msgspec.json.encode(found))
