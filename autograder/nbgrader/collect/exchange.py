"""Collect submissions from nbgrader's exchange without trusting its files.

Every student can write anything to the inbound folder, and the folder is read with the instructor's
permissions. Stock nbgrader follows symbolic links, so a link to a solution becomes a perfect
submission, and a malformed name or timestamp or an oversized folder aborts the collection for the
whole class. This collector copies only regular files that belong to the submission's owner, does
not follow links, limits sizes, and reports skipped files. A submission that the student owns takes
precedence over a submission that another user left in the student's name. If one user owns all
submissions, it cannot be verified who submitted them.
"""

import datetime as dt
import os
import pwd
import re
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeCollect
from nbgrader.utils import temp_attrs
from traitlets import Unicode

from ...model.course import Course, Week, load
from ...model.errors import KitError
from ...model.submission_files import format_timestamp
from ..regrade.regrade_log import REQUEST, note_request
from ..release.archive import names
from ..workspace import Workspace
from .collector import Collection
from .history import last_seen
from .safe_read import read_ordinary
from .submissions import accept

_STUDENT = re.compile(r"\w[\w.@+-]*\Z")
Record = dict[str, Any]


class CollectOrdinaryFiles(ExchangeCollect):
    """nbgrader's collect step for an inbound folder that every student can write to."""

    project = Unicode("", help="The folder of course.yaml.").tag(config=True)

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)  # type: ignore[no-untyped-call]  # nbgrader's own
        self.found = Collection()

    def init_src(self) -> None:
        self.src_records = self._newest()
        for record in self.src_records:
            owner = self._owner(record)
            if self.check_owner and owner != record["username"]:
                self.found.foreign[record["username"]] = owner

    def _newest(self) -> list[Record]:
        """Return each student's newest submission, unless that submission was collected before.

        A student may have submitted under any of the week's assignment names.
        """
        course, week = self._course_and_week()
        of_student: dict[str, list[Record]] = {}
        for name in names(Workspace(course), week):
            with temp_attrs(self.coursedir, assignment_id=name):
                super().init_src()  # type: ignore[no-untyped-call]  # nbgrader's own
            for record in self.src_records:
                if record["username"]:
                    of_student.setdefault(record["username"], []).append(record)
        newest = [self._sort_by_timestamp(records)[0] for records in of_student.values()]
        return [
            r
            for r in newest
            if format_timestamp(r["timestamp"]) > last_seen(course, week, r["username"])
        ]

    def _course_and_week(self) -> tuple[Course, Week]:
        assert self.coursedir is not None
        course = load(Path(self.project))
        return course, course.week(self.coursedir.assignment_id)

    def _path_to_record(self, path: str) -> Record:
        try:
            record: Record = super()._path_to_record(path)  # type: ignore[no-untyped-call]  # nbgrader's own
        except Exception:  # a malformed name; dateutil raises several types of exceptions
            record = {
                "username": "",
                "filename": os.path.basename(path),
                "timestamp": dt.datetime.min,
            }
        if not _STUDENT.match(record["username"]):
            self.found.notes.append(f"{record['filename']!r} is not a submission: skipped")
            record["username"] = ""
        return record

    def _sort_by_timestamp(self, records: list[Record]) -> list[Record]:
        """Sort submissions newest first, but put those owned by the student before all others.

        Add a note if other users have submitted in the student's name.
        """
        ordered = sorted(
            records, key=lambda r: (self._owner(r) == r["username"], r["timestamp"]), reverse=True
        )
        student, owners = ordered[0]["username"], [self._owner(r) for r in ordered]
        if self.check_owner and owners[0] == student:
            for other in sorted(set(owners) - {student}):
                self.found.notes.append(
                    f"{student}: the user {other} submitted under this name too; "
                    "the files that the student owns were taken"
                )
        return ordered

    def _owner(self, record: Record) -> str:
        try:
            status = os.lstat(os.path.join(self.inbound_path, record["filename"]))
            return pwd.getpwuid(status.st_uid).pw_name
        except (OSError, KeyError):
            return "an unknown user"

    def copy_files(self) -> None:
        """Accept the newest submissions; add a note for each one that could not be stored."""
        course, week = self._course_and_week()
        assert self.coursedir is not None
        ignored, max_bytes = tuple(self.coursedir.ignore), course.limits(week).submission_mib << 20
        for record in self.src_records:
            student = record["username"]
            if Workspace(course).submitted(student, week).is_dir() and not self.update:
                continue
            folder = Path(self.inbound_path) / record["filename"]
            # Use the time in the folder's name, as nbgrader does. timestamp.txt may be wrong.
            time = format_timestamp(record["timestamp"])
            try:
                files, left_out = read_ordinary(folder, ignored, max_bytes)
                accepted = accept(course, week, student, files, time, "exchange")
            except (OSError, KitError) as error:
                self.found.notes.append(f"{student}: could not be stored: {error}")
                continue
            if REQUEST in files and note_request(course, week, student, files[REQUEST]):
                self.found.asking.append(student)
            if accepted.entry is not None and not accepted.refused:
                self.found.fresh.append(student)
            self.found.notes.extend(f"{student}: {note}" for note in left_out)
            self.found.notes.extend(accepted.remarks(student))
