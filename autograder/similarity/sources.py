"""The modules of a week as they were collected, with what students get taken from the solution."""

from __future__ import annotations

from ..model.course import Course, Week
from ..model.errors import KitError
from ..model.stubs import stub_of
from ..nbgrader.submitted import collected
from .compare import Similarity, compare


def similarity(course: Course, week: Week) -> Similarity:
    """Raises KitError if fewer than two modules were collected."""
    modules, left_out = {}, {}
    for submission in collected(course, week):
        source = submission.files.get(week.module)
        if submission.problem or source is None:
            left_out[submission.name] = submission.problem or f"there is no {week.module}"
        else:
            modules[submission.name] = source.decode("utf-8", "replace")
    if len(modules) < 2:
        raise KitError(
            f"{week.name}: nothing to compare: {len(modules)} modules were collected, "
            f"run `autograder collect {week.name}`"
        )
    found = compare(week, stub_of(course, week), modules)
    found.left_out |= left_out
    return found
