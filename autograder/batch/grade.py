"""Grade the submissions of a week, in local processes or on a cluster.

Each report is stored as soon as it is ready, so an interrupted batch resumes where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from typing import TYPE_CHECKING

import msgspec

from ..files import course_secret
from ..model.course import Course, Week
from ..model.errors import KitError
from ..model.report import scoring
from ..model.report.schema import Ending, Report, SubmissionReport
from .cluster import Cluster
from .intake import Submission
from .pool import Job, run_here
from .store import content_hash, fingerprint, read_result, store_result

if TYPE_CHECKING:
    from .cluster.client import ClusterSession

Done = Callable[[SubmissionReport], None]


def grade_batch(
    course: Course,
    week: Week,
    submissions: Sequence[Submission],
    *,
    devices: tuple[str, ...],
    jobs: int | None = None,
    sandbox: str = "auto",
    cluster: Cluster | None = None,
    session: ClusterSession | None = None,
    on_done: Done = lambda _: None,
    notify: Callable[[str], None] = lambda line: None,
) -> Report:
    """Grade the submissions that have no stored report; return all reports in input order.

    Raise KitError if results cannot be stored or the cluster cannot be reached.

    session: an open connection to the cluster, for callers that grade several batches
    """
    name = sandbox_name(sandbox, cluster)
    try:
        secret = course_secret(course)
        depends = fingerprint(course, week, devices, secret, name)
        stored = course.state / "results" / week.name
        stored.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        where = error.filename or course.root / ".autograder"
        raise KitError(f"{where}: cannot store results: {error.strerror}") from None
    reports: dict[int, SubmissionReport] = {}
    names: list[str] = []
    waiting: dict[str, list[int]] = {}
    work: dict[str, Submission] = {}
    full = scoring.full_points(week)

    def finished(report: SubmissionReport, numbers: Sequence[int]) -> None:
        rounded = scoring.with_rounded_scores(report, week, course.registry.decimals)
        for number in numbers:
            reports[number] = msgspec.structs.replace(rounded, name=names[number], max_score=full)
            on_done(reports[number])

    def graded(key: str, report: SubmissionReport) -> None:
        try:
            if report.verdict is Ending.GRADED:
                store_result(stored, key, report)
        except OSError as error:
            raise KitError(
                f"{stored}: cannot store a result: {error.strerror}. Earlier results are "
                "safe; fix this problem and run the command again"
            ) from None
        finished(report, waiting[key])

    for number, submission in enumerate(submissions):
        names.append(submission.name)
        if submission.problem:
            finished(scoring.refused(submission.name, week, submission.problem), [number])
            continue
        key = content_hash(submission.files, depends)
        if (known := read_result(stored, key)) is not None:
            finished(known, [number])
        else:
            waiting.setdefault(key, []).append(number)
            work[key] = submission
    job = Job(str(course.root), week.name, devices, secret, name, depends)
    if cluster is None:
        run_here(job, work, jobs, graded)
    elif work:
        from .cluster.client import ClusterSession
        from .cluster.worker import pack

        connection = closing(ClusterSession(cluster)) if session is None else nullcontext(session)
        with connection as opened:
            opened.grade(pack(course, week, job), work, graded, notify)
    return Report(week.name, devices, tuple(reports[n] for n in range(len(names))), name)


def sandbox_name(sandbox: str, cluster: Cluster | None) -> str:
    """Return the name of the sandbox backend to use; raise KitError if it cannot be used.

    "auto" selects bubblewrap on a cluster, and otherwise the strongest backend that works here.
    """
    if cluster is not None:
        if sandbox == "none":
            raise KitError("--sandbox none is not allowed on a cluster")
        return "bubblewrap" if sandbox == "auto" else sandbox
    if sandbox == "none":
        return "none"
    from ..sandbox import choose

    return choose(None if sandbox == "auto" else sandbox).name
