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
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeCollect
from nbgrader.utils import temp_attrs
from traitlets import Unicode

from ..model.course import load
from .again import names
from .ordinary import FILE_BOUND, copy_ordinary
from .served import served
from .submitted import complete
from .workspace import Workspace

_STUDENT = re.compile(r"\w[\w.@+-]*\Z")
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
        found = [self._sort_by_timestamp(records)[0] for records in of_student.values()]
        settled = served(course, weeks[0]) if weeks else {}
        return [r for r in found if _stamp(r) > settled.get(r["username"], "")]

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
        bounds = [course.limits(week).submission_mib << 20 for week in weeks] or [FILE_BOUND]
        left_out = copy_ordinary(Path(src), fresh, self._ignored(), bounds[0])
        # The time in the folder's name decides, as it does for nbgrader; the file may be garbled.
        written = _stamp(record)
        (fresh / "timestamp.txt").write_text(written, encoding="utf-8")
        left_out += [complete(course, week, fresh) for week in weeks]
        fresh.replace(target)
        student = record["username"]
        self.notes += [f"{student}: {note}" for note in left_out if note]

    def _ignored(self) -> tuple[str, ...]:
        assert self.coursedir is not None
        return tuple(self.coursedir.ignore)


def _stamp(record: Record) -> str:
    """A submission's time as nbgrader writes it."""
    return f"{record['timestamp']:%Y-%m-%d %H:%M:%S.%f} UTC"
