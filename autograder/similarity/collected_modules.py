"""The modules of a week as they were collected, with what students get taken from the solution."""

from __future__ import annotations

from ..model.course.loader import Course, Week
from ..model.course.stubs import stub_of
from ..model.errors import KitError
from ..nbgrader.collect.groups import author_of, groups_of
from ..nbgrader.collect.submissions import collected
from ..nbgrader.workspace import Workspace
from .compare import Similarity, compare


def similarity(course: Course, week: Week) -> Similarity:
    """Raises KitError if fewer than two modules were collected."""
    modules, left_out = {}, {}
    grouped = _of_groups(course, week)
    for submission in collected(course, week):
        source = submission.files.get(week.module)
        if submission.name in grouped:
            left_out[submission.name] = grouped[submission.name]
        elif submission.problem or source is None:
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


def _of_groups(course: Course, week: Week) -> dict[str, str]:
    """Why members of groups are left out: what they share is one module, and no coincidence."""
    handed_in = set(Workspace(course).students("submitted", week))
    found: dict[str, str] = {}
    for group in groups_of(course, week):
        there = [member for member in group if member in handed_in]
        authors = [m for m in there if author_of(course, week, m) == m] or there[:1]
        found |= {m: f"in a group with {authors[0]}" for m in there if m != authors[0]}
    return found
