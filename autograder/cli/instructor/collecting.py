"""`autograder collect`: from nbgrader's exchange, a bulk download, or git repositories."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...channels.git import collect_git, read_repositories
from ...lms.bulk import collect_bulk
from ...lms.roster import read_roster
from ...model.course import Course, Week
from ...model.errors import KitError
from ...nbgrader.collect.collector import collect
from ...nbgrader.collect.groups import grouped_lines, spread_groups
from ...nbgrader.collect.submissions import acceptor
from ...nbgrader.gradebook.database import read_gradebook
from ..output import counted, counting


def run_collect(course: Course, week: Week) -> bool:
    """Collect from the exchange; return False if something needs attention."""
    found = collect(course, week)
    print(f"collected {len(found.fresh)} new, {len(found.unchanged)} were collected before")
    if found.missing:
        print(f"no submission yet from {counted(found.missing)}")
    for owner in sorted(set(found.foreign.values())):
        names = sorted(s for s, o in found.foreign.items() if o == owner)
        print(f"LOOK  submitted by the user {owner} under other names: {counted(names)}")
    _print_groups(found.grouped)
    for student in found.asking:
        print(f"{student} requests a regrade: `autograder requests {week.name}`")
    _print_notes(found.notes)
    return not (found.foreign or found.notes)


def run_collect_bulk(course: Course, week: Week, path: Path, roster: Path | None) -> bool:
    """Collect a bulk download; return whether every file belongs to a student."""
    if roster is None:
        raise KitError("--zip needs --roster: the class list that maps files to students")
    known = read_roster(roster)
    found = collect_bulk(course, week, path, known, acceptor(course, week, "download"))
    print(f"collected {len(found.collected)} of {len(known.entries)} students")
    if grouped := spread_groups(course, week):
        _print_groups(grouped_lines(grouped))
    if found.missing:
        print(f"no submission from {len(found.missing)}: {', '.join(found.missing)}")
    if found.late:
        print(f"late according to Canvas: {', '.join(sorted(found.late))}")
    if len(found.timed) < len(found.collected):
        print("the download has no submission times: the late policy is not applied to it")
    for name in found.unmatched:
        print(f"UNMATCHED  {name!r} does not match anyone on the class list")
    _print_notes(found.left_out)
    return not (found.unmatched or found.left_out)


def run_collect_git(
    course: Course, week: Week, roster: Path, where: str | None, *, newest: bool
) -> bool:
    """Collect from git repositories; return False if something needs attention."""
    repositories = read_repositories(roster, where)
    _, entries = read_gradebook(course)
    with counting("repositories", len(repositories)) as advance:
        found = collect_git(
            course,
            week,
            repositories,
            acceptor(course, week, "git"),
            newest=newest,
            extended={e.student: e.extension for e in entries if e.week == week.name},
            on_done=advance,
        )
    which = "the newest commit" if newest else "the last commit before the due date"
    print(f"collected {which} from {len(found.commits)} of {len(repositories)} repositories")
    if grouped := spread_groups(course, week):
        _print_groups(grouped_lines(grouped))
    if found.nothing:
        print(f"no commit by then: {counted(found.nothing)}")
    _print_notes([f"{student}: {why}" for student, why in found.failed.items()])
    _print_notes(found.notes)
    if found.commits:
        print("times are those of the commits, which are set by the students' own machines")
    return not (found.failed or found.notes)


def _print_groups(lines: Sequence[str]) -> None:
    if lines:
        print(f"copied to group members: {'; '.join(lines)}")


def _print_notes(notes: Sequence[str]) -> None:
    for note in notes:
        print(f"LOOK  {note}")
