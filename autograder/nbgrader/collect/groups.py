"""Share submissions and manual marks within groups of students.

The file `groups.csv` next to course.yaml lists the groups. Its columns are `group`, `student` and,
for a group that works together only in one week, `week`.

The members' submissions are merged in chronological order. Every member gets the merged submission
with the time of the last change. The merged submission is graded only once, because batch/store.py
reuses the report. It is recorded for each member, with the member's own extension. A manual mark
for one member is copied to all members with the same answer.
"""

from collections.abc import Mapping

from ...files import read_state, write_state
from ...lms.csv_tables import read_rows
from ...model.course import Course, Week
from ...model.errors import NbgraderError
from ...model.message_text import did_you_mean
from ...model.submission_files import SECRET_FILE
from ..gradebook.database import read_gradebook
from ..gradebook.report_store import judged_digests
from ..workspace import GradedCell, Workspace, cells_of, open_gradebook
from .history import Entry
from .merging import merge
from .submissions import accept, earlier_files, full_history

GROUPS = "groups.csv"


def groups_of(course: Course, week: Week) -> list[list[str]]:
    """Return the groups of a week that have at least two students, each group sorted by name.

    Raise NbgraderError if groups.csv names an unknown week, or lists a student in two groups.
    """
    group_of: dict[str, str] = {}
    weeks, path = {w.name for w in course.weeks}, course.root / GROUPS
    rows = read_rows(path, "group", "student") if path.exists() else []
    for number, row in enumerate(rows, start=2):
        group, student, named = row["group"], row["student"], row.get("week", "")
        if named and named not in weeks:
            raise NbgraderError(f"{GROUPS}: line {number}: there is no week {named!r}")
        if not student or (named and named != week.name):
            continue
        if group_of.setdefault(student, group) != group:
            raise NbgraderError(f"{GROUPS}: line {number}: {student} is in two groups")
    members: dict[str, list[str]] = {}
    for student in sorted(group_of):
        members.setdefault(group_of[student], []).append(student)
    return sorted(group for group in members.values() if len(group) > 1)


def unknown_students(course: Course, week: Week) -> list[str]:
    """Return a line for each extension or group member that names an unknown student (a typo?)."""
    extensions = course.registry.late.extensions if course.registry.late else ()
    named = [(GROUPS, student) for group in groups_of(course, week) for student in group]
    named += [
        (f"course.yaml: late.extensions[{number}].student", extension.student)
        for number, extension in enumerate(extensions)
        if extension.week == week.name
    ]
    known = set(Workspace(course).students("submitted", week))
    known |= set(read_gradebook(course)[0]) if named else set()
    return [
        f"{place}: there is no student {student!r}{did_you_mean(student, known)}"
        for place, student in named
        if known and student not in known
    ]


def spread_groups(course: Course, week: Week) -> dict[str, str]:
    """Copy each group's merged submission to all members of the group.

    Return a dict from each other member who got a new submission to the last change's author.
    """
    found: dict[str, str] = {}
    authors = _authors(course, week)
    for group in groups_of(course, week):
        held = {s: e for s in group if (e := full_history(course, week, s).base) is not None}
        if not held:
            continue
        author, files = _joint(course, week, held)
        for member in group:
            done = accept(course, week, member, files, held[author].handed_in, "group")
            if member == author:
                authors.pop(member, None)
                continue
            authors[member] = author
            if done.entry is not None and not done.refused:
                found[member] = author
    write_state(course.state_file("groups", week), dict(sorted(authors.items())))
    return found


def _joint(course: Course, week: Week, bases: Mapping[str, Entry]) -> tuple[str, dict[str, bytes]]:
    """Merge the submissions of a group; return the author of the last change and the files.

    bases: each member's latest submission that can be merged (`History.base`)
    """
    own = {s: e for s, e in bases.items() if e.channel != "group"} or dict(bases)
    author, files = "", dict[str, bytes]()
    for student in sorted(own, key=lambda s: (own[s].handed_in or own[s].received, s)):
        merged = merge(course, week, files, earlier_files(course, week, student))
        if not author or not (merged.problem or merged.unchanged):
            author, files = student, dict(merged.files)
    files.pop(SECRET_FILE, None)  # every member has a separate secret for fetching feedback
    return author, files


def grouped_lines(grouped: Mapping[str, str]) -> list[str]:
    """Return a line for each member that names the author of the group's submission."""
    return [f"{s} gets the submission of {a} for their group" for s, a in grouped.items()]


def author_of(course: Course, week: Week, student: str) -> str:
    """Return the group member whose submission the student received, otherwise the student."""
    return _authors(course, week).get(student, student)


def share_marks(course: Course, week: Week) -> list[str]:
    """Copy manual marks between members of a group who have the same answer.

    Return a line for each member who received another member's marks.
    """
    groups = groups_of(course, week)
    if not groups:
        return []
    notes = []
    with open_gradebook(course) as gradebook:
        for group in groups:
            held = {s: found for s in group if (found := cells_of(gradebook, week, s))}
            judged = {s: judged_digests(course, week, s) for s in held}
            for source, cells in held.items():
                for target in (s for s in held if s != source):
                    if _copy(cells, held[target], judged[source], judged[target]):
                        notes.append(f"{target} gets the marks of {source}")
        gradebook.db.commit()
    return notes


def _copy(
    source: dict[str, GradedCell],
    target: dict[str, GradedCell],
    judged: dict[str, str],
    digests: dict[str, str],
) -> bool:
    """Copy settled marks and comments between cells with equal digests; return True if any changed.

    judged, digests: digests of the cells in `source` and `target` (`judged_digests`)
    """
    done = False
    for name, (grade, comment) in source.items():
        if name not in target or judged.get(name) is None or judged[name] != digests.get(name):
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


def _authors(course: Course, week: Week) -> dict[str, str]:
    return read_state(course.state_file("groups", week), dict[str, str]) or {}
