"""Groups: one of them hands in, it is graded once, and each gets the result.

Who works together stands in `groups.csv` beside course.yaml (columns `group`, `student`, and `week`
if it is not for all weeks), or, where course.yaml says `groups: declared`, in a file `group.txt`
that students hand in, one login per line. A declaration counts for those who name each other, and
for whoever handed in nothing: nobody can take another's work over by naming them.

The members' submissions are merged in the order of their times, so that none of them loses a part
that another one submitted, and every member gets the result, with the time of the newest: equal
content is graded once (batch/store.py), recorded for each, and late for each as their own
extensions say. A mark that a person gives to one of them is given to all for the same answer.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ...files.atomic import replace_file
from ...model.course.loader import Course, Week
from ...model.errors import NbgraderError
from ..gradebook.report_store import recorded_folder
from ..workspace import Workspace, open_gradebook
from .history import Entry, read_history
from .merging import merge
from .submissions import accept, earlier_files, full_history

GROUPS = "groups.csv"
DECLARED = "group.txt"
_SECRET = "submission_secret.txt"
_MOST, _BOUND = 20, 4096


def groups_of(course: Course, week: Week) -> list[list[str]]:
    """The groups of a week, each in alphabetical order; those of one are none."""
    if course.registry.groups == "declared":
        found: Iterable[list[str]] = _declared(course, week)
    else:
        found = _listed(course, week)
    return sorted(sorted(set(group)) for group in found if len(set(group)) > 1)


def spread_groups(course: Course, week: Week) -> dict[str, str]:
    """Give every member of a group its merged submission; return who got whose."""
    found: dict[str, str] = {}
    given = _read(course, week)
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
                given.pop(member, None)
                continue
            given[member] = author
            if done.entry is not None and not done.refused:
                found[member] = author
    replace_file(_folder(course) / f"{week.name}.json", json.dumps(given, sort_keys=True).encode())
    return found


def _joint(course: Course, week: Week, held: Mapping[str, Entry]) -> tuple[str, dict[str, bytes]]:
    """Return whose submission was the last to change the group's, and the group's files."""
    own = {s: e for s, e in held.items() if e.channel != "group"} or dict(held)
    author, files = "", dict[str, bytes]()
    for student in sorted(own, key=lambda s: (own[s].handed_in or own[s].received, s)):
        merged = merge(course, week, files, earlier_files(course, week, student))
        if not author or not (merged.problem or merged.unchanged):
            author, files = student, dict(merged.files)
    files.pop(_SECRET, None)  # by which each member fetches their own feedback
    return author, files


def grouped_lines(grouped: Mapping[str, str]) -> list[str]:
    """Say who got whose submission."""
    return [f"{s} has what {a} handed in for their group" for s, a in grouped.items()]


def author_of(course: Course, week: Week, student: str) -> str:
    """Whose submission a student has: their own, or that of another of the group."""
    return _read(course, week).get(student, student)


def share_marks(course: Course, week: Week) -> list[str]:
    """Give the marks of each group's submission to all its members, for the same answers."""
    groups = groups_of(course, week)
    if not groups:
        return []
    said = []
    with open_gradebook(course) as gradebook:
        for group in groups:
            held = {s: found for s in group if (found := _cells(gradebook, week, s))}
            judged = {s: _judged(course, week, s) for s in held}
            for source, cells in held.items():
                for target in (s for s in held if s != source):
                    if _copy(cells, held[target], judged[source], judged[target]):
                        said.append(f"{target} has the marks of {source}")
        gradebook.db.commit()
    return said


def _copy(
    source: dict[str, tuple[Any, Any]],
    target: dict[str, tuple[Any, Any]],
    judged: dict[str, str],
    theirs: dict[str, str],
) -> bool:
    """Copy settled marks and comments where both were judged by the same text."""
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


def _judged(course: Course, week: Week, student: str) -> dict[str, str]:
    try:
        found = json.loads((recorded_folder(course, week) / f"{student}.answers").read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


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
        raise NbgraderError(f"{GROUPS}: it needs columns `group` and `student`, and maybe `week`")
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
    """Those who name each other, and whom they name that handed in nothing."""
    workspace = Workspace(course)
    named: dict[str, set[str]] = {}
    for student in workspace.students("submitted", week):
        base = read_history(course, week, student).base
        if base is None or base.channel != "group":  # else it is another student's file
            path = workspace.submitted(student, week) / DECLARED
            named[student] = set(_names(path)) - {student}
    known = _known(course) | named.keys()
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


def _known(course: Course) -> set[str]:
    from ..gradebook.database import read_gradebook

    return set(read_gradebook(course)[0])


def _folder(course: Course) -> Path:
    folder = course.state / "groups"
    folder.mkdir(exist_ok=True, mode=0o700)
    return folder


def _read(course: Course, week: Week) -> dict[str, str]:
    """Student -> whose submission was laid into their folder."""
    try:
        found = json.loads((_folder(course) / f"{week.name}.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
