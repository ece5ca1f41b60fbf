"""`collect`: from nbgrader's exchange, a bulk download, or git repositories."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from typer import Option

from ...model.course import Course, Week
from ...model.errors import KitError
from ..app import flag, instructor_command
from ..options import WeekArgument, find_week
from ..output import counted, counting, print_attention


@instructor_command
def collect(
    week: WeekArgument,
    bulk: Annotated[
        Path | None, Option("--zip", help="A bulk download of Canvas, Moodle, Gradescope.")
    ] = None,
    roster: Annotated[
        Path | None, Option(help="With --zip: the class list, a CSV of the same system.")
    ] = None,
    git: Annotated[
        Path | None,
        Option(metavar="ROSTER", help="From git: a CSV with `username` or `repository`."),
    ] = None,
    repositories: Annotated[
        str | None, Option(help="With --git: an address or a folder that contains {username}.")
    ] = None,
    newest: Annotated[
        bool, flag("newest", "With --git: the newest commit, not the due date's.")
    ] = False,
) -> bool:
    """Collect a week's submissions, and report who is missing and what needs attention.

    Example: autograder collect week01 --zip submissions.zip --roster grades.csv
    Example: autograder collect week01 --git students.csv --repositories 'clones/week01-{username}'
    """
    course, chosen = find_week(week)
    if (repositories or newest) and git is None:
        raise KitError("--repositories and --newest need --git ROSTER")
    if git is not None:
        return _collect_git(course, chosen, git, repositories, newest)
    if bulk is not None:
        return _collect_bulk(course, chosen, bulk, roster)
    from ...nbgrader.collect.collector import collect

    found = collect(course, chosen)
    print(f"collected {len(found.fresh)} new, {len(found.unchanged)} were collected before")
    if found.missing:
        print(f"no submission yet from {counted(found.missing)}")
    for owner in sorted(set(found.foreign.values())):
        names = sorted(s for s, o in found.foreign.items() if o == owner)
        print(f"LOOK  submitted by the user {owner} under other names: {counted(names)}")
    _print_groups(found.grouped)
    for student in found.asking:
        print(f"{student} requests a regrade: `autograder requests {chosen.name}`")
    return print_attention(found.notes) and not found.foreign


def _collect_bulk(course: Course, week: Week, path: Path, roster: Path | None) -> bool:
    from ...lms.bulk import collect_bulk
    from ...lms.roster import read_roster
    from ...nbgrader.collect.groups import grouped_lines, spread_groups
    from ...nbgrader.collect.submissions import acceptor

    if roster is None:
        raise KitError("--zip needs --roster: the class list that maps files to students")
    known = read_roster(roster)
    found = collect_bulk(course, week, path, known, acceptor(course, week, "download"))
    print(f"collected {len(found.collected)} of {len(known.entries)} students")
    _print_groups(grouped_lines(spread_groups(course, week)))
    if found.missing:
        print(f"no submission from {len(found.missing)}: {', '.join(found.missing)}")
    if found.late:
        print(f"late according to Canvas: {', '.join(sorted(found.late))}")
    if len(found.timed) < len(found.collected):
        print("the download has no submission times: the late policy is not applied to it")
    for name in found.unmatched:
        print(f"UNMATCHED  {name!r} does not match anyone on the class list")
    return print_attention(found.left_out) and not found.unmatched


def _collect_git(course: Course, week: Week, roster: Path, where: str | None, newest: bool) -> bool:
    from ...channels.git import collect_git, read_repositories
    from ...nbgrader.collect.groups import grouped_lines, spread_groups
    from ...nbgrader.collect.submissions import acceptor
    from ...nbgrader.gradebook.database import read_gradebook

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
    _print_groups(grouped_lines(spread_groups(course, week)))
    if found.missing:
        print(f"no commit by then: {counted(found.missing)}")
    failed = [f"{student}: {why}" for student, why in found.failed.items()]
    fine = print_attention([*failed, *found.notes])
    if found.commits:
        print("times are those of the commits, which are set by the students' own machines")
    return fine


def _print_groups(lines: Sequence[str]) -> None:
    if lines:
        print(f"copied to group members: {'; '.join(lines)}")
