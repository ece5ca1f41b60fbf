"""Prepare a submission for grading: unpack it, find its release, and look for a stored result."""

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
from ...model.course import Course, Week
from ...model.report import scoring
from ...model.report.schema import SubmissionReport
from ...model.report.verdicts import Ending
from ...nbgrader.collect.submitted import read_student
from ...nbgrader.release.archive import course_for
from ..submissions.upload import PROBLEM, unpacked, write_files
from .queued_submission import QueuedSubmission


@dataclass
class PreparedSubmission:
    """A submission that is ready for grading, or has a stored report.

    course, week: of the release that the student worked on
    """

    course: Course
    week: Week
    submission: Submission
    job: Job
    store: ResultStore
    report: SubmissionReport | None

    def store_result(self, report: SubmissionReport) -> SubmissionReport:
        """Store a report for equal submissions; return it with rounded scores and the name."""
        if report.verdict is Ending.GRADED:
            self.store.put(self.store.key(self.submission.files), report)
        return self.for_student(report)

    def for_student(self, report: SubmissionReport) -> SubmissionReport:
        rounded = scoring.with_rounded_scores(report, self.week, self.course.registry.decimals)
        return msgspec.structs.replace(rounded, name=self.submission.name)


def prepare(
    course: Course,
    week: Week,
    queued: QueuedSubmission,
    content: bytes,
    devices: tuple[str, ...],
    sandbox: str,
) -> PreparedSubmission:
    """Read a submission's zip as `autograder grade` reads a collected submission."""
    with closing(WorkFolder()) as work_folder:
        folder = work_folder.path / week.name
        files = unpacked(content)
        write_files(files, folder)
        submission = read_student(course, week, queued.student, folder)
        if PROBLEM in files:
            problem = files[PROBLEM].decode()
            submission = msgspec.structs.replace(submission, problem=problem)
        release = course_for(course, week, queued.student, folder)
    released = release.week(week.name)
    job = job_for(release, released, devices, sandbox)
    store = ResultStore(release.state / "results" / released.name, job.depends)
    prepared = PreparedSubmission(release, released, submission, job, store, None)
    if submission.problem:
        prepared.report = scoring.refused(submission.name, released, submission.problem)
    elif stored := store.get(store.key(submission.files)):
        prepared.report = prepared.for_student(stored)
    return prepared


def job_for(course: Course, week: Week, devices: tuple[str, ...], sandbox: str) -> Job:
    secret = course_secret(course)
    depends = fingerprint(course, week, devices, secret, sandbox)
    full = scoring.full_points(week)
    return Job(str(course.root), week.name, devices, secret, sandbox, full, depends)
