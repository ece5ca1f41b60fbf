"""Groups: one member submits, the submission is graded once, and every member gets the result.

Groups are listed in `groups.csv` next to course.yaml (columns `group`, `student`, and `week` if a
group is not for all weeks). If course.yaml has `groups: declared`, students submit a file
`group.txt` with one login per line instead. A declaration is valid between students who name each
other, and for named students without a submission: students cannot take over the work of others by
naming them.

The members' submissions are merged in the order of their times, so that no member loses a part that
another one submitted. Every member gets the merged submission with the time of the newest one: it
is graded once (batch/store.py), recorded for each, and late for each by their own extension. A
manual mark for one member is copied to all members with the same answer.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ...model.course import Course, Week
from ...model.errors import NbgraderError
from ..gradebook.database import read_gradebook
from ..gradebook.report_store import judged_digests
from ..state_files import read_state, write_state
from ..workspace import Workspace, open_gradebook
from .history import Entry, read_history
from .merging import merge
from .submissions import accept, earlier_files, full_history

GROUPS = "groups.csv"
DECLARED = "group.txt"
_SECRET = "submission_secret.txt"
_MOST, _BOUND = 20, 4096


def groups_of(course: Course, week: Week) -> list[list[str]]:
    """Return the groups of at least two students, each in alphabetical order."""
    if course.registry.groups == "declared":
        found: Iterable[list[str]] = _declared(course, week)
    else:
        found = _listed(course, week)
    return sorted(sorted(set(group)) for group in found if len(set(group)) > 1)


def spread_groups(course: Course, week: Week) -> dict[str, str]:
    """Give every member of a group its merged submission; return the author by member."""
    found: dict[str, str] = {}
    authors = _authors(course, week)
    for group in groups_of(course, week):
        held = {s: e for s in group if (e := full_history(course, week, s).base) is not None}
        if not held:
            continue
        author, files = _joint(course, week, held)
        for member in group:
            own = earlier_files(course, week, member)
            files[DECLARED] = own.get(DECLARED, b"")
            sent = {name: data for name, data in files.items() if name != DECLARED or data}
            done = accept(course, week, member, sent, held[author].handed_in, "group")
            if member == author:
                authors.pop(member, None)
                continue
            authors[member] = author
            if done.entry is not None and not done.refused:
                found[member] = author
    write_state(_authors_file(course, week), dict(sorted(authors.items())))
    return found


def _joint(course: Course, week: Week, held: Mapping[str, Entry]) -> tuple[str, dict[str, bytes]]:
    """Return the author of the group's last change, and the group's files."""
    own = {s: e for s, e in held.items() if e.channel != "group"} or dict(held)
    author, files = "", dict[str, bytes]()
    for student in sorted(own, key=lambda s: (own[s].handed_in or own[s].received, s)):
        merged = merge(course, week, files, earlier_files(course, week, student))
        if not author or not (merged.problem or merged.unchanged):
            author, files = student, dict(merged.files)
    files.pop(_SECRET, None)  # each member fetches feedback by their own secret
    return author, files


def grouped_lines(grouped: Mapping[str, str]) -> list[str]:
    """Return a line per member about the author of their submission."""
    return [f"{s} gets the submission of {a} for their group" for s, a in grouped.items()]


def author_of(course: Course, week: Week, student: str) -> str:
    """Return the group member who wrote the student's submission, or the student."""
    return _authors(course, week).get(student, student)


def share_marks(course: Course, week: Week) -> list[str]:
    """Copy manual marks between the members of each group, for the same answers."""
    groups = groups_of(course, week)
    if not groups:
        return []
    notes = []
    with open_gradebook(course) as gradebook:
        for group in groups:
            held = {s: found for s in group if (found := _cells(gradebook, week, s))}
            judged = {s: judged_digests(course, week, s) for s in held}
            for source, cells in held.items():
                for target in (s for s in held if s != source):
                    if _copy(cells, held[target], judged[source], judged[target]):
                        notes.append(f"{target} gets the marks of {source}")
        gradebook.db.commit()
    return notes


def _copy(
    source: dict[str, tuple[Any, Any]],
    target: dict[str, tuple[Any, Any]],
    judged: dict[str, str],
    theirs: dict[str, str],
) -> bool:
    """Copy settled marks and comments of cells whose judged text is the same."""
    done = False
    for name, (grade, comment) in source.items():
        if name not in target or judged.get(name) is None or judged[name] != theirs.get(name):
            continue
        own, words = target[name]
        settled = grade.manual_score is not None and not grade.needs_manual_grade
        if settled and (own.manual_score is None or own.needs_manual_grade):
            own.manual_score, own.needs_manual_grade = grade.manual_score, False
            own.extra_credit, done = grade.extra_credit, True
        said = comment is not None and comment.manual_comment
        if said and words is not None and not words.manual_comment:
            words.manual_comment, done = said, True
    return done


def _cells(gradebook: Any, week: Week, student: str) -> dict[str, tuple[Any, Any]]:
    from nbgrader.api import MissingEntry

    try:
        submission = gradebook.find_submission(week.name, student)
    except MissingEntry:
        return {}
    found: dict[str, tuple[Any, Any]] = {}
    for notebook in submission.notebooks:
        comments = {c.name: c for c in notebook.comments}
        found |= {g.name: (g, comments.get(g.name)) for g in notebook.grades}
    return found


def _listed(course: Course, week: Week) -> list[list[str]]:
    path = course.root / GROUPS
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [{(k or "").strip(): (v or "").strip() for k, v in row.items()
                     if isinstance(v, str)} for row in csv.DictReader(file)]  # fmt: skip
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise NbgraderError(f"{GROUPS}: cannot be read: {error}") from None
    if rows and not {"group", "student"} <= rows[0].keys():
        raise NbgraderError(
            f"{GROUPS}: needs the columns `group` and `student` (and optionally `week`)"
        )
    found: dict[str, list[str]] = {}
    of: dict[str, str] = {}
    weeks = {w.name for w in course.weeks}
    for number, row in enumerate(rows, start=2):
        name, student = row["group"], row["student"]
        if (named := row.get("week", "")) and named not in weeks:
            raise NbgraderError(f"{GROUPS}: line {number}: there is no week {named!r}")
        if not student or (named and named != week.name):
            continue
        if of.setdefault(student, name) != name:
            raise NbgraderError(f"{GROUPS}: line {number}: {student} is in two groups")
        found.setdefault(name, []).append(student)
    return list(found.values())


def _declared(course: Course, week: Week) -> list[list[str]]:
    """Return groups of students who name each other, or a student without a submission."""
    workspace = Workspace(course)
    named: dict[str, set[str]] = {}
    for student in workspace.students("submitted", week):
        base = read_history(course, week, student).base
        if base is None or base.channel != "group":  # otherwise the file is another student's
            path = workspace.submitted(student, week) / DECLARED
            named[student] = set(_names(path)) - {student}
    known = {*read_gradebook(course)[0], *named}
    pairs = [
        {student, other}
        for student, others in named.items()
        for other in others & known
        if other not in named or student in named[other]
    ]
    return [sorted(group) for group in _joined(pairs)]


def _joined(pairs: list[set[str]]) -> list[set[str]]:
    groups: list[set[str]] = []
    for pair in pairs:
        touching = [g for g in groups if g & pair]
        groups = [g for g in groups if not g & pair] + [pair.union(*touching)]
    return groups


def _names(path: Path) -> list[str]:
    if path.is_symlink() or not path.is_file() or path.stat().st_size > _BOUND:
        return []
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return [line.strip() for line in lines if line.strip() and "/" not in line][:_MOST]


def _authors(course: Course, week: Week) -> dict[str, str]:
    """Return by student the author of the group submission that they got."""
    return read_state(_authors_file(course, week), dict[str, str]) or {}


def _authors_file(course: Course, week: Week) -> Path:
    return course.state / "groups" / f"{week.name}.json"
