"""Collect submissions from nbgrader's exchange without trusting its files.

Every student can write anything to the inbound folder, and the folder is read with the instructor's
permissions. Stock nbgrader follows symbolic links, so a link to a solution becomes a perfect
submission, and a malformed name or timestamp or an oversized folder aborts the collection for the
whole class. This collector copies only regular files that belong to the submission's owner, does
not follow links, limits sizes, and reports skipped files. A submission that the student owns takes
precedence over a submission that another user left in the student's name. If one user owns all
submissions, it cannot be verified who submitted them.
"""

from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeCollect
from traitlets import Unicode

from ...model.course import Course, Week, load
from ...model.errors import KitError
from ...model.submission_files import format_timestamp
from ..regrade.regrade_log import REQUEST, note_request
from ..workspace import Workspace
from .collector import Collection
from .history import last_seen
from .inbound import ExchangeSubmission, submissions_by_student
from .safe_read import read_ordinary
from .submissions import accept


class CollectOrdinaryFiles(ExchangeCollect):
    """nbgrader's collect step for an inbound folder that every student can write to."""

    project = Unicode("", help="The folder of course.yaml.").tag(config=True)

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)  # type: ignore[no-untyped-call]  # nbgrader's own
        self.found = Collection()

    def init_src(self) -> None:
        """Select each student's best submission, unless it was collected before."""
        course, week = self._course_and_week()
        assert self.coursedir is not None
        due, wanted = course.localized(week.due), self.coursedir.student_id
        if not Workspace(course).inbound.is_dir():
            self.fail(f"Course not found: {Workspace(course).inbound}")  # type: ignore[no-untyped-call]  # nbgrader's own
        self.src_records: list[ExchangeSubmission] = []
        notes = self.found.notes
        for student, found in submissions_by_student(course, week, notes=notes).items():
            if wanted not in ("", "*", student):
                continue
            on_time = [s for s in found if s.submitted <= due] if self.before_duedate else []
            newest, *others = on_time or found
            strangers = {s.owner for s in others} - {student}
            for other in sorted(strangers) if self.check_owner and newest.own else ():
                notes.append(
                    f"{student}: the user {other} submitted under this name too; "
                    "the files that the student owns were taken"
                )
            if format_timestamp(newest.submitted) > last_seen(course, week, student):
                self.src_records.append(newest)
                if self.check_owner and not newest.own:
                    self.found.foreign[student] = newest.owner

    def _course_and_week(self) -> tuple[Course, Week]:
        assert self.coursedir is not None
        course = load(Path(self.project))
        return course, course.week(self.coursedir.assignment_id)

    def copy_files(self) -> None:
        """Accept the newest submissions; add a note for each one that could not be stored."""
        course, week = self._course_and_week()
        assert self.coursedir is not None
        ignored, max_bytes = tuple(self.coursedir.ignore), course.limits(week).submission_mib << 20
        for record in self.src_records:
            student = record.student
            if Workspace(course).submitted(student, week).is_dir() and not self.update:
                continue
            folder = Workspace(course).inbound / record.source
            # Use the time in the folder's name, as nbgrader does. timestamp.txt may be wrong.
            time = format_timestamp(record.submitted)
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
