"""Compare the collected modules of a week."""

from __future__ import annotations

from ..model.course import Course, Week
from ..model.course.stubs import stub_of
from ..model.errors import KitError
from ..nbgrader.collect.groups import author_of, groups_of
from ..nbgrader.collect.submissions import collected
from ..nbgrader.workspace import Workspace
from .compare import Similarity, compare


def similarity(course: Course, week: Week) -> Similarity:
    """Compare all pairs of modules; raise KitError if fewer than two were collected."""
    modules: dict[str, str] = {}
    left_out = _other_group_members(course, week)
    for submission in collected(course, week):
        source = submission.files.get(week.module)
        if submission.name in left_out:
            continue
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


def _other_group_members(course: Course, week: Week) -> dict[str, str]:
    """Map group members except one to the reason for leaving them out: they share a module."""
    submitted = set(Workspace(course).students("submitted", week))
    left_out: dict[str, str] = {}
    for group in groups_of(course, week):
        members = [member for member in group if member in submitted]
        authors = [m for m in members if author_of(course, week, m) == m] or members[:1]
        left_out |= {m: f"in a group with {authors[0]}" for m in members if m != authors[0]}
    return left_out
