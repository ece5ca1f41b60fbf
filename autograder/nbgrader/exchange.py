"""Collecting from the exchange without trusting what lies there.

Theory of operation. Every student may write into the inbound folder, in whatever way, not only
through `nbgrader submit`; collecting reads it with the instructor's rights. Stock nbgrader follows
symbolic links there, so a link to a solution becomes a perfect submission and comes back in the
feedback; one malformed folder name, one garbled timestamp or one oversized folder ends the
collecting for all. Here only ordinary files that belong to the submission's owner are copied,
opened without following links, up to a bound; the rest is left out and reported. A student's own
submission goes before one that another user left in their name. What this does not promise: that
the name on a submission is right where all submissions belong to one user.
"""

from __future__ import annotations

import datetime as dt
import os
import pwd
import re
import shutil
import stat
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeCollect
from nbgrader.utils import temp_attrs
from traitlets import Unicode

from ..batch.intake import is_wanted
from ..model.course import load
from .again import names
from .submitted import complete
from .workspace import Workspace

_STUDENT = re.compile(r"\w[\w.@+-]*\Z")
_FILE_BOUND = 64 << 20
_TOTAL_BOUND = 256 << 20
_FILES_BOUND = 2000
Record = dict[str, Any]


class CollectOrdinaryFiles(ExchangeCollect):
    """nbgrader's collect, for a folder that anybody may write to."""

    project = Unicode("", help="The folder of course.yaml.").tag(config=True)

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)  # type: ignore[no-untyped-call]  # nbgrader's own
        self.notes: list[str] = []  # what was left out or mended, for the instructor
        self.foreign: dict[str, str] = {}  # student -> the user who owns their submission

    def init_src(self) -> None:
        self.src_records = self._newest()
        for record in self.src_records:
            owner = self._owner(record)
            if self.check_owner and owner != record["username"]:
                self.foreign[record["username"]] = owner

    def _newest(self) -> list[Record]:
        """Each student's newest submission, under whichever name of the week it was handed in."""
        assert self.coursedir is not None
        assignment, course = self.coursedir.assignment_id, load(Path(self.project))
        weeks = [w for w in course.weeks if w.name == assignment]
        of_student: dict[str, list[Record]] = {}
        for name in names(Workspace(course), weeks[0]) if weeks else [assignment]:
            with temp_attrs(self.coursedir, assignment_id=name):
                super().init_src()  # type: ignore[no-untyped-call]  # nbgrader's own
            for record in self.src_records:
                if record["username"]:
                    of_student.setdefault(record["username"], []).append(record)
        return [self._sort_by_timestamp(records)[0] for records in of_student.values()]

    def _path_to_record(self, path: str) -> Record:
        try:
            record: Record = super()._path_to_record(path)  # type: ignore[no-untyped-call]  # nbgrader's own
        except Exception:  # a name that nbgrader did not make; dateutil raises several kinds
            record = {
                "username": "",
                "filename": os.path.basename(path),
                "timestamp": dt.datetime.min,
            }
        if not _STUDENT.match(record["username"]):
            self.notes.append(f"{record['filename']!r} in the exchange is no submission: left out")
            record["username"] = ""
        return record

    def _sort_by_timestamp(self, records: list[Record]) -> list[Record]:
        """The newest first; but before all others, those that the student owns."""
        ordered = sorted(
            records,
            key=lambda r: (self._owner(r) == r["username"], r["timestamp"]),
            reverse=True,
        )
        student, owners = ordered[0]["username"], [self._owner(r) for r in ordered]
        if self.check_owner and owners[0] == student:
            for other in sorted(set(owners) - {student}):
                self.notes.append(
                    f"{student}: the user {other} handed in under this name too; "
                    "what the student owns was taken"
                )
        return ordered

    def _owner(self, record: Record) -> str:
        try:
            status = os.lstat(os.path.join(self.inbound_path, record["filename"]))
            return pwd.getpwuid(status.st_uid).pw_name
        except (OSError, KeyError):
            return "an unknown user"

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Copy one submission; it appears under its name only when it is whole."""
        target = Path(dest)
        record = self._path_to_record(src)
        fresh = target.with_name(f"{target.name}.collecting")
        if fresh.exists():
            shutil.rmtree(fresh)
        course = load(Path(self.project))
        weeks = [week for week in course.weeks if week.name == target.name]
        bounds = [course.limits(week).submission_mib << 20 for week in weeks] or [_FILE_BOUND]
        left_out = copy_ordinary(Path(src), fresh, self._ignored(), bounds[0])
        # The time in the folder's name decides, as it does for nbgrader; the file may be garbled.
        written = f"{record['timestamp']:%Y-%m-%d %H:%M:%S.%f} UTC"
        (fresh / "timestamp.txt").write_text(written, encoding="utf-8")
        left_out += [complete(course, week, fresh) for week in weeks]
        fresh.replace(target)
        student = record["username"]
        self.notes += [f"{student}: {note}" for note in left_out if note]

    def _ignored(self) -> tuple[str, ...]:
        assert self.coursedir is not None
        return tuple(self.coursedir.ignore)


def copy_ordinary(
    source: Path, target: Path, ignored: tuple[str, ...] = (), bound: int = _FILE_BOUND
) -> list[str]:
    """Copy the ordinary files of a folder; returns what was left out, and why.

    A file over the bound is not copied: nbgrader would copy it again to autograded/ and feedback/.
    """
    target.mkdir(parents=True)
    left_out: list[str] = []
    total = count = 0
    owner = os.lstat(source).st_uid
    # fwalk holds each folder open, so exchanging one for a link meanwhile changes nothing.
    for folder, folders, files, descriptor in os.fwalk(source, follow_symlinks=False):
        place = target / os.path.relpath(folder, source)
        folders[:] = [f for f in sorted(folders) if not _matches(f, ignored)]
        place.mkdir(exist_ok=True)
        for name in sorted(files):
            if _matches(name, ignored):
                continue
            count += 1
            if count > _FILES_BOUND or total > _TOTAL_BOUND:
                left_out.append("it holds too much; the rest was left out")
                return left_out
            shown = os.path.normpath(os.path.join(os.path.relpath(folder, source), name))
            own = _FILE_BOUND if name.endswith(".ipynb") else min(bound, _FILE_BOUND)
            size, problem = _copy_file(name, descriptor, place / name, owner, own)
            total += size
            if problem:
                left_out.append(f"{shown!r} {problem}")
    return left_out


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)


def _copy_file(name: str, folder: int, target: Path, owner: int, bound: int) -> tuple[int, str]:
    """Copy one file; returns the bytes copied and what is wrong with it, if anything."""
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(name, flags, dir_fd=folder)
    except OSError as error:
        return 0, f"was left out: it is a link or cannot be opened ({error.strerror})"
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return 0, "was left out: it is no ordinary file"
        if status.st_uid != owner:
            return 0, "was left out: it belongs to another user"
        if target.name == "timestamp.txt":
            return 0, ""  # written from the folder's name
        if status.st_size > bound and not is_wanted(name):
            size = status.st_size >> 20
            return 0, f"({size} MiB) was left in the exchange: nothing that is graded is so large"
        with target.open("wb") as copy:
            if status.st_size > bound:
                # Its size is all that grading needs to know to refuse it; it takes no room.
                copy.truncate(bound + 1)
                return 0, f"is too large ({status.st_size >> 20} MiB): its content was left out"
            return copy.write(file.read(bound)), ""
