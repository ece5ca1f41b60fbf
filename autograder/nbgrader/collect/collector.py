"""Collect a week's submissions from nbgrader's exchange."""

import msgspec

from ...files import read_state, write_state
from ...model.course import Course, Week
from ...model.errors import NbgraderError
from ..gradebook.database import read_gradebook
from ..workspace import Workspace, exchange_step, open_api, require
from .groups import grouped_lines, spread_groups, unknown_students


class Collection(msgspec.Struct, frozen=True):
    """The result of `collect`. The latest result of each week is stored."""

    foreign: dict[str, str] = {}  # student -> user who owns the files, if not the student
    notes: list[str] = []  # for the instructor
    fresh: list[str] = []  # students with a new submission
    unchanged: list[str] = []  # students whose submission was collected before
    missing: list[str] = []  # students in the gradebook who have not submitted
    asking: list[str] = []  # students who requested a regrade
    grouped: list[str] = []  # lines about group submissions


def collect(course: Course, week: Week, *, check_owner: bool = True) -> Collection:
    """Run nbgrader's collect step for a week, and copy group submissions to all group members.

    Raise NbgraderError if the exchange does not exist yet, or if nbgrader's step fails.
    """
    workspace = Workspace(course)
    if not workspace.inbound.is_dir():
        raise NbgraderError(
            f"the exchange does not exist yet: run `autograder release {week.name}` to create it"
        )
    attributes = {"assignment_id": week.name}
    collecting, result = exchange_step(
        open_api(course), "Collect", attributes, update=True, check_owner=check_owner
    )
    require(result, f"collecting {week.name}")
    unknown = unknown_students(course, week)
    grouped = spread_groups(course, week)
    after = workspace.students("submitted", week)
    found: Collection = collecting.found
    fresh = {*found.fresh, *grouped}
    collection = msgspec.structs.replace(
        found,
        notes=[*found.notes, *unknown],
        fresh=[s for s in after if s in fresh],
        unchanged=[s for s in after if s not in fresh],
        missing=[s for s in read_gradebook(course)[0] if s not in after],
        grouped=grouped_lines(grouped),
    )
    write_state(course.state_file("collected", week), collection)
    return collection


def last_collection(course: Course, week: Week) -> Collection:
    """Return the result of the latest `collect`, or an empty result if there is none."""
    return read_state(course.state_file("collected", week), Collection) or Collection()
