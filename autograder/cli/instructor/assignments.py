"""`release` and `collect`: release weeks and solutions to students, and collect submissions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from ...model.course import Course, Week
from ...model.errors import KitError
from ...terminal.console import Terminal
from ..app import flag
from ..options import WeekArgument, find_week
from ..output import counted, counting, print_attention

if TYPE_CHECKING:
    from ...lms.bulk import Found


def release(
    week: WeekArgument,
    early: Annotated[bool, flag("early", "Release before the week's release date.")] = False,
    again: Annotated[bool, flag("again", "Release a corrected week next to the old one.")] = False,
    solutions: Annotated[
        bool, flag("solutions", "Release solutions after all extensions.")
    ] = False,
    unproven: Annotated[bool, flag("unproven", "Release even if `verify` finds gaps.")] = False,
) -> bool:
    """Release a week to students: verify it, check for leaks, and publish it with nbgrader.

    Parts that have not changed since they were last verified are not verified again.

    Example: autograder release week01 --early
    """
    course, chosen = find_week(week)
    if solutions:
        if early or again:
            raise KitError(
                "--solutions cannot be combined with --early or --again: solutions are released "
                "after the last extension, in a separate folder"
            )
        return _release_solutions(course, chosen)
    from ...authoring.lesson.handout import WHEEL
    from ...nbgrader.release.publish import release
    from ...nbgrader.workspace import Workspace

    if not unproven:
        _require_proof(course, chosen)
    with Terminal(stderr=True).status(f"releasing {chosen.name}"):
        released = release(course, chosen, early=early, again=again)
    print(f"released {chosen.name}: {len(released.files)} files, checked for secret lines")
    print(f"students fetch it with   nbgrader fetch_assignment {chosen.name} --course {course.id}")
    if released.second_name:
        print(
            "students with the previous release also run   "
            f"nbgrader fetch_assignment {released.second_name}   (CHANGES.md lists the changes)"
        )
    print(
        "nbgrader_config.py in the folder that contains their weeks needs the line   "
        f"c.Exchange.root = {str(Workspace(course).exchange)!r}"
    )
    remedy = f"put {WHEEL} in dist/, then release again"
    kit = "with the kit" if released.wheel else f"without the kit: {remedy}"
    print(f"for Colab, Kaggle or a learning platform: {released.bundle} ({kit})")
    return print_attention(released.notes)


def _require_proof(course: Course, week: Week) -> None:
    from ..author.verification import Verify, verified

    (result,) = verified(Verify(course, [week], public=True))
    if not result.gaps:  # verify the slow parts only if the public checks have no gaps
        (result,) = verified(Verify(course, [week], lesson=True))
    if not print_attention(result.gaps, "GAP"):
        raise KitError(
            f"{week.name} is not proven: fix the gaps above (`autograder verify {week.name} "
            "--quick --lesson` shows them), or use --unproven"
        )


def _release_solutions(course: Course, week: Week) -> bool:
    from ...nbgrader.release.solutions import release_solutions

    out = release_solutions(course, week)
    print(f"released the solutions of {week.name}: {len(out.files)} files, without hidden tests")
    fetch = f"nbgrader fetch_assignment {out.folder.name} --course {course.id}"
    print(f"students fetch them with   {fetch}")
    print(f"the same files, for a learning platform:   {out.folder}")
    for note in out.notes:
        print(f"note: {note}")
    return True


def collect(
    week: WeekArgument,
    bulk: Annotated[
        Path | None, Option("--zip", help="A bulk download from Canvas, Moodle or Gradescope.")
    ] = None,
    roster: Annotated[
        Path | None, Option(help="With --zip: the class list, a CSV from the same platform.")
    ] = None,
    git: Annotated[
        Path | None,
        Option(metavar="ROSTER", help="A CSV with a column `username` or `repository`."),
    ] = None,
    repositories: Annotated[
        str | None, Option(help="With --git: a URL or path that contains {username}.")
    ] = None,
    newest: Annotated[bool, flag("newest", "With --git: the newest commit, even if late.")] = False,
) -> bool:
    """Collect a week's submissions; report missing students and problems.

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
    from ...nbgrader.collect.submissions import acceptor

    if roster is None:
        raise KitError("--zip needs --roster: the class list, which maps files to students")
    known = read_roster(roster)
    found = collect_bulk(course, week, path, known, acceptor(course, week, "download"))
    print(f"collected {len(found.collected)} of {len(known.entries)} students")
    return _print_found(course, week, found)


def _collect_git(course: Course, week: Week, roster: Path, urls: str | None, newest: bool) -> bool:
    from ...channels.git import collect_git, read_repositories
    from ...nbgrader.collect.submissions import acceptor
    from ...nbgrader.gradebook.database import read_gradebook

    repositories = read_repositories(roster, urls)
    _, entries = read_gradebook(course)
    extended = {e.student: e.extension for e in entries if e.week == week.name}
    collect = partial(collect_git, course, week, repositories, acceptor(course, week, "git"))
    with counting("repositories", len(repositories)) as advance:
        found = collect(newest=newest, extended=extended, on_done=advance)
    which = "the newest commit" if newest else "the last commit before the due date"
    print(f"collected {which} from {len(found.collected)} of {len(repositories)} repositories")
    return _print_found(course, week, found)


def _print_found(course: Course, week: Week, found: Found) -> bool:
    """Copy group submissions and print the result; return True if nothing needs attention."""
    from ...nbgrader.collect.groups import grouped_lines, spread_groups

    _print_groups(grouped_lines(spread_groups(course, week)))
    if found.missing:
        print(f"no submission from {len(found.missing)}: {', '.join(found.missing)}")
    for fact in found.facts:
        print(fact)
    strangers = (f"{name!r} does not match anyone on the class list" for name in found.unmatched)
    matched = print_attention(strangers, "UNMATCHED")
    return print_attention(found.problems) and matched


def _print_groups(lines: Sequence[str]) -> None:
    if lines:
        print(f"copied to group members: {'; '.join(lines)}")
