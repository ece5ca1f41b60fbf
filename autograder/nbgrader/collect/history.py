"""Store all submissions of a student for a week, and record which one is current.

`.autograder/submissions/<week>/<student>/` contains `index.json`, and a folder for each submission
that is named after the digest of its files. nbgrader's `submitted/` contains a copy of the current
submission, with the submission's number in the file `.parts`. The index is replaced atomically
before the copy is created, so `submissions.collected` can detect and complete an interrupted copy.
"""

import datetime as dt
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, Self

import msgspec

from ...batch.intake import Submission, read_submission
from ...files import read_state, replace_folder, write_state
from ...model.course import Course, Week
from ...model.errors import NbgraderError
from ...model.submission_files import FROM_NBGRADER, TIMESTAMP_FILE, Note, digest_of, local_text
from ..workspace import Workspace
from .notebooks import cell_notes, code_notes, read_cells
from .safe_read import read_ordinary

MARKER = ".parts"
_INDEX = "index.json"
UNREADABLE = ".unreadable"


class SubmittedPart(msgspec.Struct, frozen=True):
    """One part of a submission, and the result of merging the part with the earlier submission.

    The `fate` is new (submitted for the first time), replaced (differs from the earlier
    submission), same (equals it), kept (not submitted, or unchanged since the release, and
    therefore taken from it), missing (never submitted) or refused (cannot be graded, and therefore
    taken from it).
    """

    kind: Literal["module", "answer", "file"]
    name: str  # of the module (such as "softmax.py"), question or file
    fate: Literal["new", "replaced", "same", "kept", "missing", "refused"]


class Entry(msgspec.Struct, frozen=True):
    """A stored submission. `handed_in`: submission time in nbgrader's format, or "" if unknown."""

    number: int  # counts from 1 in each week
    handed_in: str
    received: str  # ISO 8601, UTC
    channel: str
    digest: str
    parts: tuple[SubmittedPart, ...] = ()
    problem: str = ""  # why the submission cannot be graded, or ""
    notes: tuple[Note, ...] = ()

    def when(self, zone: dt.tzinfo) -> str:
        """Return the submission time, or the time of arrival if it is unknown, to the minute."""
        return local_text(self.handed_in or self.received, zone)


class History(msgspec.Struct, frozen=True):
    """A student's submissions for one week, oldest first."""

    entries: tuple[Entry, ...] = ()
    current: int = 0  # number of the submission in nbgrader's folder, or 0 if there is none
    restored: bool = False  # True if the instructor restored the current submission
    replaced: int = 0  # number of the restored submission that the current one replaced, or 0
    seen: str = ""  # latest submission time, including refused and unchanged submissions

    def entry(self, number: int) -> Entry | None:
        return next((e for e in self.entries if e.number == number), None)

    def submitted_at(self, time: str) -> Entry | None:
        return next((e for e in self.entries if e.handed_in == time), None)

    @property
    def accepted(self) -> list[Entry]:
        """Return the submissions that can be graded."""
        return [e for e in self.entries if not e.problem]

    @property
    def base(self) -> Entry | None:
        """Return the submission that the next one is merged with, or None if there is none."""
        if self.restored or not self.accepted:
            return self.entry(self.current)
        return self.accepted[-1]

    def with_entry(self, changed: Entry) -> Self:
        """Return a copy in which `changed` replaces the entry with the same number."""
        entries = tuple(changed if e.number == changed.number else e for e in self.entries)
        return msgspec.structs.replace(self, entries=entries)


def history_folder(course: Course, week: Week, student: str) -> Path:
    return course.state / "submissions" / week.name / student


def read_history(course: Course, week: Week, student: str) -> History:
    """Return a student's submissions for a week. Raise NbgraderError if the index is damaged."""
    path = history_folder(course, week, student) / _INDEX
    damaged = NbgraderError(f"{path}: cannot be read: restore this file from a backup")
    return read_state(path, History, damaged) or History()


def write_history(course: Course, week: Week, student: str, history: History) -> None:
    write_state(history_folder(course, week, student) / _INDEX, history)


def students_with_history(course: Course, week: Week) -> list[str]:
    folder = course.state / "submissions" / week.name
    return sorted(p.parent.name for p in folder.glob(f"*/{_INDEX}"))


def store_files(course: Course, week: Week, student: str, files: Mapping[str, bytes]) -> str:
    """Store the files of a submission, unless already stored, and return their digest."""
    digest = digest_of(files)[:32]
    target = history_folder(course, week, student) / digest
    if not target.is_dir():
        replace_folder(target, files, 0o700)
    return digest


def stored_files(course: Course, week: Week, student: str, entry: Entry) -> dict[str, bytes]:
    """Return the files of a submission by name."""
    return files_below(history_folder(course, week, student) / entry.digest)


def files_below(folder: Path) -> dict[str, bytes]:
    """Return the regular files of a folder by name, without hidden files and timestamp.txt."""
    return read_ordinary(folder, (".*",), any_owner=True)[0] if folder.is_dir() else {}


def place(course: Course, week: Week, student: str, entry: Entry) -> None:
    """Replace the student's folder in nbgrader's `submitted/` with a copy of this submission."""
    files = stored_files(course, week, student, entry)
    if entry.handed_in:
        files[TIMESTAMP_FILE] = entry.handed_in.encode()
    files[MARKER] = msgspec.json.encode(entry.number)
    replace_folder(Workspace(course).submitted(student, week), files)


def read_marker(folder: Path) -> int:
    """Return the number of the submission in a folder, or 0 if the folder has no marker."""
    return read_state(folder / MARKER, int) or 0


def folder_time(folder: Path) -> str:
    """Return the time in a folder's timestamp.txt, or "" if the file cannot be read."""
    try:
        return (folder / TIMESTAMP_FILE).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def last_seen(course: Course, week: Week, student: str) -> str:
    """Return the latest submission time in nbgrader's format, or "" if no time is known."""
    folder = Workspace(course).submitted(student, week)
    return max(read_history(course, week, student).seen, folder_time(folder))


def read_student(
    course: Course, week: Week, student: str, folder: Path | None = None
) -> Submission:
    """Read a student's submission for grading, leaving out files that belong to the release.

    Without released files, the report depends only on the student's own files, not on the channel.

    folder: the submission's folder; defaults to the folder of the collected submission
    """
    workspace = Workspace(course)
    folder = folder or workspace.submitted(student, week)
    submission = read_submission(folder, week, course.limits(week), student)
    entry = read_history(course, week, student).entry(read_marker(folder))
    notes = (
        *submission.notes,
        *(entry.notes if entry else ()),
        *_notebook_notes(course, week, folder, submission),
    )
    released = workspace.released(week)
    files = {
        name: content
        for name, content in submission.files.items()
        if name == week.module or not ((released / name).is_file() or name in FROM_NBGRADER)
    }
    problem = submission.problem
    if problem and entry and entry.problem:
        problem = entry.problem  # more specific, because merging saw all files
    return msgspec.structs.replace(submission, files=files, problem=problem, notes=notes)


def _notebook_notes(
    course: Course, week: Week, folder: Path, submission: Submission
) -> Iterator[Note]:
    workspace = Workspace(course)
    if cells := read_cells(folder / f"{week.name}.ipynb"):
        released = read_cells(workspace.released(week) / f"{week.name}.ipynb")
        yield from cell_notes(cells, released, week)
    module = submission.files.get(week.module, b"").decode("utf-8", "replace")
    stub = workspace.released_file(week, week.module).decode("utf-8", "replace")
    yield from code_notes(cells, module, stub, week)
