"""One try made ready for grading: read, matched with its release, and looked up in the store."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

import msgspec

from ...batch.fingerprint import fingerprint
from ...batch.intake import Submission
from ...batch.pool import Job
from ...batch.store import ResultStore
from ...files.secret import course_secret
from ...files.workfolder import WorkFolder
from ...model.course.loader import Course, Week
from ...model.report import scoring
from ...model.report.schema import SubmissionReport
from ...model.report.verdicts import Ending
from ...nbgrader.collect.submitted import read_student
from ...nbgrader.release.archive import course_for
from ..submissions.upload import PROBLEM, unpacked, write_files
from .queue import Try


@dataclass
class Work:
    """What a lane needs, or the report that is known already."""

    course: Course  # by whose tests it is graded: of its release
    week: Week
    submission: Submission
    job: Job
    store: ResultStore
    known: SubmissionReport | None

    def keep(self, report: SubmissionReport) -> SubmissionReport:
        """The report as it is given, after it was kept in the store."""
        if report.verdict is Ending.GRADED:
            self.store.put(self.store.key(self.submission.files), report)
        return self._given(report)

    def _given(self, report: SubmissionReport) -> SubmissionReport:
        given = scoring.with_rounded_scores(report, self.week, self.course.registry.decimals)
        return msgspec.structs.replace(given, name=self.submission.name)


def make_ready(
    course: Course, week: Week, one: Try, content: bytes, devices: tuple[str, ...], sandbox: str
) -> Work:
    """Read what was handed in, as `grade` reads what was collected."""
    with closing(WorkFolder()) as place:
        folder = place.path / week.name
        files = unpacked(content)
        write_files(files, folder)
        submission = read_student(course, week, one.student, folder)
        if PROBLEM in files:
            problem = files[PROBLEM].decode()
            submission = msgspec.structs.replace(submission, problem=problem)
        of = course_for(course, week, one.student, folder)
    own = of.week(week.name)
    job = job_for(of, own, devices, sandbox)
    store = ResultStore(of.state / "results" / own.name, job.depends)
    work = Work(of, own, submission, job, store, None)
    if submission.problem:
        work.known = scoring.refused(submission.name, own, submission.problem)
    else:
        kept = store.get(store.key(submission.files))
        work.known = work._given(kept) if kept else None
    return work


def job_for(course: Course, week: Week, devices: tuple[str, ...], sandbox: str) -> Job:
    secret = course_secret(course)
    depends = fingerprint(course, week, devices, secret, sandbox)
    full = scoring.full_points(week)
    return Job(str(course.root), week.name, devices, secret, sandbox, full, depends)
