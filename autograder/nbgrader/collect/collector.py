"""Collecting a week from the exchange."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...model.course.loader import Course, Week
from ...model.errors import NbgraderError
from ..workspace import Workspace, open_api, open_gradebook, require
from .collection_notes import Oddities, keep_collected
from .groups import grouped_lines, spread_groups


@dataclass(frozen=True)
class Collection:
    """What one `collect` found."""

    fresh: list[str]  # students whose submission is new or newer
    unchanged: list[str]
    missing: list[str]  # known to the gradebook, but nothing handed in
    foreign: dict[str, str]  # student -> the user who owns what was handed in under their name
    notes: list[str] = field(default_factory=list)
    asking: list[str] = field(default_factory=list)  # for a regrade
    grouped: list[str] = field(default_factory=list)  # who has another's submission


def collect(course: Course, week: Week, *, check_owner: bool = True) -> Collection:
    """Run nbgrader's collect for a week; raises NbgraderError if it fails as a whole."""
    from nbgrader.utils import capture_log, temp_attrs

    workspace = Workspace(course)
    if not (workspace.exchange / course.id / "inbound").is_dir():
        raise NbgraderError(
            f"there is nothing to collect from: `autograder release {week.name}` opens the exchange"
        )
    api = open_api(course)
    with temp_attrs(api.coursedir, assignment_id=week.name):
        collecting = api.exchange.Collect(
            coursedir=api.coursedir, authenticator=api.authenticator, parent=api
        )
        collecting.update, collecting.check_owner = True, check_owner
        require(capture_log(collecting), f"collecting {week.name}")
    grouped = spread_groups(course, week)
    after = workspace.students("submitted", week)
    keep_collected(course, week, Oddities(collecting.foreign, collecting.notes))
    fresh = {*collecting.fresh, *grouped}
    return Collection(
        fresh=[s for s in after if s in fresh],
        unchanged=[s for s in after if s not in fresh],
        missing=[s for s in _known(course) if s not in after],
        foreign=collecting.foreign,
        notes=collecting.notes,
        asking=collecting.asking,
        grouped=grouped_lines(grouped),
    )


def _known(course: Course) -> list[str]:
    with open_gradebook(course) as gradebook:
        return sorted(s.id for s in gradebook.students)
