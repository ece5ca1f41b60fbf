"""Grade the submissions of a week, in local processes or on a cluster.

Reports are stored as soon as they arrive, so a batch that was killed continues where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from ..files.secret import course_secret
from ..model.course import Course, Week
from ..model.errors import KitError
from ..model.report import scoring
from ..model.report.schema import Interning, Report, SubmissionReport
from ..model.report.verdicts import Ending
from .cluster import Cluster
from .fingerprint import fingerprint
from .intake import Submission
from .pool import Job, run_here
from .store import ResultStore

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
    say: Callable[[str], None] = lambda line: None,
) -> Report:
    """Grade submissions, or take their reports from the store.

    session: an open connection to the cluster, for callers that grade several batches
    Return the reports in the order of the submissions.
    Raise KitError if results cannot be stored or the cluster cannot be reached.
    """
    name = sandbox_name(sandbox, cluster)
    try:
        secret = course_secret(course)
        depends = fingerprint(course, week, devices, secret, name)
        store = ResultStore(course.state / "results" / week.name, depends)
    except OSError as error:
        where = error.filename or course.root / ".autograder"
        raise KitError(f"{where}: cannot store results: {error.strerror}") from None
    reports: dict[int, SubmissionReport] = {}
    waiting: dict[str, list[int]] = {}
    work = _Waiting(submissions, waiting, store)
    interned = Interning()
    names: list[str] = []
    for number, submission in enumerate(submissions):
        names.append(submission.name)
        if submission.problem:
            _settle(
                number, scoring.refused(submission.name, week, submission.problem), reports, on_done
            )
            continue
        key = store.key(submission.files)
        known = store.get(key)
        if known is not None:
            given = scoring.with_rounded_scores(known, week, course.registry.decimals)
            renamed = msgspec.structs.replace(interned(given), name=submission.name)
            _settle(number, renamed, reports, on_done)
        else:
            waiting.setdefault(key, []).append(number)
            work.cache(key, submission)

    def finished(key: str, report: SubmissionReport) -> None:
        if report.verdict is Ending.GRADED:
            _store(store, key, report)
        report = interned(scoring.with_rounded_scores(report, week, course.registry.decimals))
        for number in waiting[key]:
            renamed = msgspec.structs.replace(report, name=names[number])
            _settle(number, renamed, reports, on_done)

    full = scoring.full_points(week)
    if cluster is None:
        job = Job(str(course.root), week.name, devices, secret, name, full, depends)
        run_here(job, work, jobs, finished)
    elif work:
        from .cluster.client import grade_on_cluster
        from .cluster.parcel import pack

        parcel = pack(course, week, devices, secret, name, depends)
        if session is not None:
            session.grade(parcel, work, full, finished, say)
        else:
            grade_on_cluster(cluster, parcel, work, full, finished, say)
    ordered = tuple(reports[n] for n in range(len(submissions)))
    return Report(week.name, devices, ordered, name)


CACHED_BYTES = 64 << 20  # submissions beyond this total are read twice


class _Waiting(Mapping[str, Submission]):
    """The submissions to grade, by key, read lazily: a class of thousands stays on disk."""

    def __init__(
        self,
        submissions: Sequence[Submission],
        numbers: Mapping[str, Sequence[int]],
        store: ResultStore,
    ) -> None:
        self._submissions, self._numbers, self._store = submissions, numbers, store
        self._cached: dict[str, Submission] = {}
        self._free = CACHED_BYTES

    def cache(self, key: str, submission: Submission) -> None:
        size = sum(map(len, submission.files.values()))
        if key not in self._cached and size <= self._free:
            self._free -= size
            self._cached[key] = submission

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __getitem__(self, key: str) -> Submission:
        if (cached := self._cached.pop(key, None)) is not None:
            return cached
        submission = self._submissions[self._numbers[key][0]]
        if self._store.key(submission.files) != key:
            raise KitError(
                f"{submission.name} changed during grading. Finished results are stored; run the "
                "command again to grade the rest"
            )
        return submission


def sandbox_name(sandbox: str, cluster: Cluster | None) -> str:
    """Return the name of the sandbox: by default the strongest, which cluster workers require."""
    if cluster is not None:
        if sandbox == "none":
            raise KitError("--sandbox none is not allowed on a cluster")
        return "bubblewrap" if sandbox == "auto" else sandbox
    if sandbox == "none":
        return "none"
    from ..sandbox import choose

    return choose(None if sandbox == "auto" else sandbox).name


def _store(store: ResultStore, key: str, report: SubmissionReport) -> None:
    try:
        store.put(key, report)
    except OSError as error:
        raise KitError(
            f"{store.folder}: cannot store a result: {error.strerror}. Earlier results are safe; "
            "fix this problem and run the command again"
        ) from None


def _settle(
    number: int, report: SubmissionReport, reports: dict[int, SubmissionReport], on_done: Done
) -> None:
    reports[number] = report
    on_done(report)
