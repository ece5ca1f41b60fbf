"""Accept submissions from every channel: merge them, store them and make them current.

A submission that cannot be graded never replaces one that can. Submitting the same parts again
has no effect, not even on the time. Everything that arrives is stored (history.py) and can be
restored.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from ...batch.intake import Submission, Unread
from ...files import in_turn
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
from .merging import Merged, merge

_FOR_INSTRUCTORS = ("missing", "unreadable", "renamed", "refused")  # kinds of notes
_MISSING = Note(
    "missing",
    "Your submission has no notebook, so no written answers could be marked. Your module was "
    "graded.",
)


class Accepted(NamedTuple):
    """The outcome of accepting a submission."""

    merged: Merged
    entry: Entry | None  # None if the submission changes nothing
    refused: bool = False  # cannot be graded, so an earlier submission stays current

    def remarks(self, student: str) -> list[str]:
        """Return the lines that an instructor should see."""
        if self.refused:
            problem = self.merged.problem
            return [f"{student}: not accepted, and the earlier submission stays: {problem}"]
        notes = self.entry.notes if self.entry else ()
        return [f"{student}: {KINDS[n.kind]}" for n in notes if n.kind in _FOR_INSTRUCTORS]


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
    """Merge a submission with the student's earlier one, store it, and make it current.

    handed_in: submission time in nbgrader's format, or "" if unknown. whole: store the files
    unchanged, because they were merged before they were graded.
    """
    with in_turn(history_folder(course, week, student)):
        history = _accept_folder(course, week, student)
        base = history.base
        earlier = stored_files(course, week, student, base) if base else {}
        merged = merge(course, week, earlier, incoming)
        if whole and not merged.problem:
            merged = msgspec.structs.replace(merged, files=dict(incoming))
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
    """Add a submission to the history, and make it current unless it cannot be graded."""
    history = msgspec.structs.replace(history, seen=max(history.seen, handed_in))
    refused = bool(merged.problem and history.accepted)
    files = dict(incoming if refused else merged.files)
    notes = [*merged.notes]
    if not refused:
        notes += _add_released_notebook(course, week, files, merged, incoming)
    entry = Entry(
        number=len(history.entries) + 1,
        handed_in=handed_in,
        received=dt.datetime.now(dt.UTC).isoformat(timespec="microseconds"),
        channel=channel,
        digest=store_files(course, week, student, _storable(files)),
        parts=merged.parts,
        problem=merged.problem,
        notes=tuple(dict.fromkeys(notes)),
    )
    if _changes_nothing(history, merged, entry):
        _refresh(course, week, student, history, entry)
        return Accepted(merged, None)
    history = msgspec.structs.replace(history, entries=(*history.entries, entry))
    if not refused:
        replaced = history.current if history.restored else 0
        history = msgspec.structs.replace(
            history, current=entry.number, restored=False, replaced=replaced
        )
    write_history(course, week, student, history)
    if not refused:
        place(course, week, student, entry)
    return Accepted(merged, entry, refused)


def acceptor(
    course: Course, week: Week, channel: str
) -> Callable[[str, dict[str, bytes], str], list[str]]:
    """Return a function that accepts a student's files and returns remarks for the instructor."""

    def accept_files(student: str, files: dict[str, bytes], handed_in: str) -> list[str]:
        return accept(course, week, student, files, handed_in, channel).remarks(student)

    return accept_files


def _add_released_notebook(
    course: Course, week: Week, files: dict[str, bytes], merged: Merged, sent: Container[str]
) -> list[Note]:
    """Add the released notebook if there is none: nbgrader needs one to grade."""
    name = f"{week.name}.ipynb"
    released = Workspace(course).released_file(week, name)
    if not released or files.setdefault(name, released) != released:
        return []
    explained = name in sent or any(n.kind in ("unreadable", "renamed") for n in merged.notes)
    return [] if explained else [_MISSING]


def _storable(files: Mapping[str, bytes]) -> dict[str, bytes]:
    hidden = (".", "/")
    return {
        name: data
        for name, data in files.items()
        if name != "timestamp.txt"
        and not any(part.startswith(hidden) or part == "" for part in name.split("/"))
    }


def _changes_nothing(history: History, merged: Merged, entry: Entry) -> bool:
    base = history.base
    if base is None:
        return False
    if merged.problem:
        return history.entries[-1].digest == entry.digest
    return merged.unchanged and not base.problem


def _refresh(course: Course, week: Week, student: str, history: History, entry: Entry) -> None:
    """Update files and notes of a resubmission without changes, but keep its number and time."""
    base = history.base
    if base is None or entry.problem or base.digest == entry.digest:
        write_history(course, week, student, history)
        return
    refreshed = msgspec.structs.replace(base, digest=entry.digest, notes=entry.notes)
    write_history(course, week, student, history.with_entry(refreshed))
    if history.current == base.number:
        place(course, week, student, refreshed)


def _accept_folder(course: Course, week: Week, student: str) -> History:
    """Return the history after accepting files that were added or edited by hand."""
    folder = Workspace(course).submitted(student, week)
    history = read_history(course, week, student)
    current, marker = history.entry(history.current), read_marker(folder)
    copied = folder.is_dir() and (marker is None or marker.number == history.current)
    files = dict(files_below(folder)) if copied or current is None else {}
    if current is not None and not files:  # copying it was interrupted
        place(course, week, student, current)
    if not files:
        return history
    digest = store_files(course, week, student, files)
    if current is not None and marker is not None and digest != current.digest:
        history = history.with_entry(msgspec.structs.replace(current, digest=digest))
        write_history(course, week, student, history)
    if current is not None and (marker is not None or digest == current.digest):
        return history
    merged = merge(course, week, {}, files)
    done = _keep(course, week, student, history, merged, files, folder_time(folder), "folder")
    if current is not None and (done.entry is None or done.refused):
        place(course, week, student, current)
    return read_history(course, week, student)


def earlier_files(course: Course, week: Week, student: str) -> dict[str, bytes]:
    """Return the files that the next submission is merged with; empty if there are none."""
    base = full_history(course, week, student).base
    return stored_files(course, week, student, base) if base else {}


def put_in_place(
    course: Course, week: Week, student: str, number: int, *, restored: bool = False
) -> Entry:
    """Make an earlier submission current; `restored`: an instructor chose it."""
    with in_turn(history_folder(course, week, student)):
        history = _accept_folder(course, week, student)
        entry = history.entry(number)
        if entry is None:
            raise NbgraderError(f"{week.name}: {student} has no submission number {number}")
        history = msgspec.structs.replace(history, current=number, restored=restored)
        write_history(course, week, student, history)
        place(course, week, student, entry)
        return entry


def refuse(course: Course, week: Week, student: str, number: int, stays: int, why: str) -> None:
    """Restore an earlier submission because grading refused `number`; keep the new answers."""
    with in_turn(history_folder(course, week, student)):
        history = _accept_folder(course, week, student)
        refused, entry = history.entry(number), history.entry(stays)
        assert refused is not None
        assert entry is not None
        history = history.with_entry(msgspec.structs.replace(refused, problem=why))
        history = msgspec.structs.replace(
            history, current=stays, restored=history.replaced == stays
        )
        write_history(course, week, student, history)
        place(course, week, student, entry)
    name = f"{week.name}.ipynb"
    notebook = stored_files(course, week, student, refused).get(name)
    if notebook is not None:
        accept(course, week, student, {name: notebook}, refused.handed_in, refused.channel)


def full_history(course: Course, week: Week, student: str) -> History:
    """Return a student's submissions, including one that was placed in the folder by hand."""
    with in_turn(history_folder(course, week, student)):
        return _accept_folder(course, week, student)


def collected(course: Course, week: Week) -> Sequence[Submission]:
    """Return every submission that was collected for the week, by student.

    Accept folders that were added by hand, and complete interrupted copies.
    """
    workspace = Workspace(course)
    for student in {
        *students_with_history(course, week),
        *workspace.students("submitted", week),
    }:
        marker = read_marker(workspace.submitted(student, week))
        if marker is None or marker.number != read_history(course, week, student).current:
            full_history(course, week, student)
    students = workspace.students("submitted", week)
    return Unread(partial(read_student, course, week, student) for student in students)
