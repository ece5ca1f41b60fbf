"""Accept submissions from every channel: merge them, store them and make them current.

A submission that cannot be graded never replaces a submission that can be graded. Submitting the
same parts again has no effect and keeps the earlier submission time. Every submission is stored
(history.py) and can be restored.
"""

import datetime as dt
from collections.abc import Container, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from ...batch.intake import Submission, Unread
from ...files import in_turn
from ...lms.bulk import Accept
from ...model.course import Course, Week
from ...model.errors import NbgraderError
from ...model.submission_files import KINDS, Note
from ..workspace import Workspace
from .history import (
    Entry,
    History,
    files_below,
    folder_time,
    history_folder,
    place,
    read_history,
    read_marker,
    read_student,
    store_files,
    stored_files,
    students_with_history,
    write_history,
)
from .merging import Merged, is_students_file, merge

_FOR_INSTRUCTORS = ("missing", "unreadable", "renamed", "refused")  # kinds of notes
_MISSING = Note("missing", "Your submission has no notebook, so only your module was graded.")


class Accepted(NamedTuple):
    """The outcome of accepting a submission."""

    entry: Entry | None  # None if the submission changes nothing
    refused: bool = False  # True if it cannot be graded and an earlier submission stays current

    def remarks(self, student: str) -> list[str]:
        """Return the lines to print for the instructor."""
        if self.entry is None:
            return []
        if self.refused:
            problem = self.entry.problem
            return [f"{student}: not accepted, and the earlier submission stays: {problem}"]
        kinds = (note.kind for note in self.entry.notes)
        return [f"{student}: {KINDS[kind]}" for kind in kinds if kind in _FOR_INSTRUCTORS]


def accept(
    course: Course,
    week: Week,
    student: str,
    incoming: Mapping[str, bytes],
    handed_in: str,
    channel: str,
    *,
    whole: bool = False,
) -> Accepted:
    """Merge and store a submission; make it current unless it is refused or changes nothing.

    handed_in: submission time in nbgrader's format, or "" if unknown. whole: store `incoming`
    unchanged, because the web service merged the files before it graded them.
    """
    with in_turn(history_folder(course, week, student)):
        history = _accept_folder(course, week, student)
        merged = merge(course, week, _base_files(course, week, student, history), incoming)
        if whole and not merged.problem:
            merged = replace(merged, files=dict(incoming))
        return _keep(course, week, student, history, merged, incoming, handed_in, channel)


def _keep(
    course: Course,
    week: Week,
    student: str,
    history: History,
    merged: Merged,
    incoming: Mapping[str, bytes],
    handed_in: str,
    channel: str,
) -> Accepted:
    """Store a submission unless it changes nothing, and make it current unless it is refused."""
    history, base = replace(history, seen=max(history.seen, handed_in)), history.base
    refused = bool(merged.problem and history.accepted)
    files = dict(incoming if refused else merged.files)
    notes = [*merged.notes]
    if not refused:
        notes += _add_released_notebook(course, week, files, merged, incoming)
    storable = {name: data for name, data in files.items() if is_students_file(name)}
    entry = Entry(
        number=len(history.entries) + 1,
        handed_in=handed_in,
        received=dt.datetime.now(dt.UTC).isoformat(timespec="microseconds"),
        channel=channel,
        digest=store_files(course, week, student, storable),
        parts=merged.parts,
        problem=merged.problem,
        notes=tuple(dict.fromkeys(notes)),
    )
    if merged.problem:
        unchanged = base is not None and history.entries[-1].digest == entry.digest
    else:
        unchanged = base is not None and merged.unchanged and not base.problem
    if base is not None and unchanged:
        # Keep the number and time, even if files that are not graded have changed.
        if is_refreshed := not merged.problem and base.digest != entry.digest:
            base = replace(base, digest=entry.digest, notes=entry.notes)
            history = history.with_entry(base)
        write_history(course, week, student, history)
        if is_refreshed and history.current == base.number:
            place(course, week, student, base)
        return Accepted(None)
    history = replace(history, entries=(*history.entries, entry))
    if not refused:
        replaced = history.current if history.restored else 0
        history = replace(history, current=entry.number, restored=False, replaced=replaced)
    write_history(course, week, student, history)
    if not refused:
        place(course, week, student, entry)
    return Accepted(entry, refused)


def acceptor(course: Course, week: Week, channel: str) -> Accept:
    """Return a function that accepts a submission from the channel and returns remarks."""
    return lambda who, files, time: accept(course, week, who, files, time, channel).remarks(who)


def _add_released_notebook(
    course: Course, week: Week, files: dict[str, bytes], merged: Merged, incoming: Container[str]
) -> list[Note]:
    """Add the released notebook if the submission has none, because nbgrader requires one.

    Return a note for the student, unless another note already explains the missing notebook.
    """
    name = f"{week.name}.ipynb"
    released = Workspace(course).released_file(week, name)
    if not released or files.setdefault(name, released) != released:
        return []
    explained = name in incoming or any(n.kind in ("unreadable", "renamed") for n in merged.notes)
    return [] if explained else [_MISSING]


def _accept_folder(course: Course, week: Week, student: str) -> History:
    """Accept files that were added or edited by hand, and return the updated history.

    If copying the current submission to nbgrader's folder was interrupted, copy it again.
    """
    folder = Workspace(course).submitted(student, week)
    history = read_history(course, week, student)
    current, marker = history.entry(history.current), read_marker(folder)
    copied = folder.is_dir() and marker in (0, history.current)
    files = files_below(folder) if copied or current is None else {}
    if current is not None and not files:  # the copy was interrupted
        place(course, week, student, current)
    if not files:
        return history
    digest = store_files(course, week, student, files)
    if current is not None and marker and digest != current.digest:
        history = history.with_entry(replace(current, digest=digest))
        write_history(course, week, student, history)
    if current is not None and (marker or digest == current.digest):
        return history
    merged = merge(course, week, {}, files)
    done = _keep(course, week, student, history, merged, files, folder_time(folder), "folder")
    if current is not None and (done.entry is None or done.refused):
        place(course, week, student, current)
    return read_history(course, week, student)


def earlier_files(course: Course, week: Week, student: str) -> dict[str, bytes]:
    """Return the files that the next submission is merged with, or {} if it is the first."""
    return _base_files(course, week, student, full_history(course, week, student))


def put_in_place(
    course: Course, week: Week, student: str, number: int, *, restored: bool = False
) -> None:
    """Make an earlier submission current. Raise NbgraderError if the number is unknown.

    restored: also mark the submission as restored, so that it counts until the next submission
    """
    with in_turn(history_folder(course, week, student)):
        history = _accept_folder(course, week, student)
        entry = history.entry(number)
        if entry is None:
            raise NbgraderError(f"{week.name}: {student} has no submission number {number}")
        history = replace(history, current=number, restored=restored)
        write_history(course, week, student, history)
        place(course, week, student, entry)


def refuse(course: Course, week: Week, student: str, number: int, stays: int, reason: str) -> None:
    """Mark submission `number` as impossible to grade, and make submission `stays` current.

    Then accept the notebook of the refused submission, so that new written answers are not lost.

    reason: the reason, for the student and the instructor
    """
    name = f"{week.name}.ipynb"
    with in_turn(history_folder(course, week, student)):
        history = _accept_folder(course, week, student)
        refused = history.entry(number)
        assert refused is not None
        history = history.with_entry(replace(refused, problem=reason))
        history = replace(history, current=stays, restored=history.replaced == stays)
        notebook = stored_files(course, week, student, refused).get(name)
        if notebook is None:
            write_history(course, week, student, history)
        else:  # store both changes at once, so that an interruption does not lose the answers
            sent = {name: notebook}
            merged = merge(course, week, _base_files(course, week, student, history), sent)
            handed_in, channel = refused.handed_in, refused.channel
            _keep(course, week, student, history, merged, sent, handed_in, channel)
            history = read_history(course, week, student)
        current = history.entry(history.current)
        assert current is not None
        place(course, week, student, current)


def _base_files(course: Course, week: Week, student: str, history: History) -> dict[str, bytes]:
    return stored_files(course, week, student, history.base) if history.base else {}


def full_history(course: Course, week: Week, student: str) -> History:
    """Return a student's submissions, after accepting files that were added by hand."""
    with in_turn(history_folder(course, week, student)):
        return _accept_folder(course, week, student)


def collected(course: Course, week: Week) -> Sequence[Submission]:
    """Return the current submission of every student who submitted the week.

    Folders that were added by hand are accepted, and interrupted copies are completed.
    """
    workspace = Workspace(course)
    known = students_with_history(course, week)
    for student in {*known, *workspace.students("submitted", week)}:
        marker = read_marker(workspace.submitted(student, week))
        if not marker or marker != read_history(course, week, student).current:
            full_history(course, week, student)
    students = workspace.students("submitted", week)
    return Unread(partial(read_student, course, week, student) for student in students)
