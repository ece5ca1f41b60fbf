"""Groups: one of them hands in, it is graded once, and each gets the result.

Who works together stands in `groups.csv` beside course.yaml (columns `group`, `student`, and `week`
if it is not for all weeks), or, where course.yaml says `groups: declared`, in a file `group.txt`
that students hand in, one login per line. A declaration counts for those who name each other, and
for whoever handed in nothing: nobody can take another's work over by naming them.

Of what the members handed in, the newest counts. It is laid into every member's folder, with its
time: equal content is graded once (batch/store.py), recorded for each, and late for each as their
own extensions say. A mark that a person gives to one of them is given to all for the same answer.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..files.atomic import replace_file
from ..model.course import Course, Week
from ..model.errors import NbgraderError
from .recorded import handed_in, recorded_folder
from .submitted import share
from .workspace import Workspace, open_gradebook

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


def spread_groups(course: Course, week: Week) -> list[str]:
    """Lay each group's newest submission into every member's folder; what is to be said."""
    workspace, said = Workspace(course), []
    given = _read(course, week)
    for group in groups_of(course, week):
        own = {s: handed_in(course, week, s) for s in group if _handed_in(workspace, s, week)}
        if not own:
            continue
        # whose folder holds another's, and not something of their own since
        whose = {s: a for s in own if own.get(a := given.get(s, s)) == own[s]}
        newest = max(own, key=lambda s: (own[s], s))
        author = whose.get(newest, newest)
        for member in group:
            if member == author:
                given.pop(member, None)
            else:
                if _lay(workspace, week, author, member):
                    said.append(f"{member} has what {author} handed in for their group")
                given[member] = author
    folder = _folder(course)
    replace_file(folder / f"{week.name}.json", json.dumps(given, sort_keys=True).encode())
    return said


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


def _shared(source: str, target: str) -> None:
    """Copy with its times; a large file that nobody changes is the same for the whole group."""
    if source.endswith(".ipynb"):
        shutil.copy2(source, target)
    else:
        share(Path(source), Path(target))
        shutil.copystat(source, target)


def _judged(course: Course, week: Week, student: str) -> dict[str, str]:
    try:
        found = json.loads((recorded_folder(course, week) / f"{student}.answers").read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _lay(workspace: Workspace, week: Week, author: str, member: str) -> bool:
    """Lay one's submission into another's folder; whether it was another one before."""
    source, target = workspace.submitted(author, week), workspace.submitted(member, week)
    stamp = "timestamp.txt"
    same = target.is_dir() and _text(source / stamp) == _text(target / stamp)
    if same and (target / DECLARED).exists() == (source / DECLARED).exists():
        return False
    secret = _text(target / _SECRET)
    fresh = target.with_name(f"{target.name}.collecting")
    shutil.rmtree(fresh, ignore_errors=True)
    ignored = shutil.ignore_patterns(_SECRET)
    shutil.copytree(source, fresh, symlinks=True, ignore=ignored, copy_function=_shared)
    if secret:  # by which the member fetches feedback
        (fresh / _SECRET).write_text(secret, encoding="utf-8")
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh.replace(target)
    return True


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
    given = _read(course, week)
    named: dict[str, set[str]] = {}
    for student in workspace.students("submitted", week):
        other = given.get(student, student)
        laid = other != student and handed_in(course, week, other) == handed_in(
            course, week, student
        )
        if not laid:  # else it is another's file
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
    from .database import read_gradebook

    return set(read_gradebook(course)[0])


def _handed_in(workspace: Workspace, student: str, week: Week) -> bool:
    return workspace.submitted(student, week).is_dir()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


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
