"""Grading many submissions of a week: what is known already, what must be graded, and where.

Submissions travel as bytes and come back as reports, to a pool of processes here or to a cluster.
A report is stored as soon as it is there: what a killed batch had finished, the next one finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from ..files.secret import course_secret
from ..model.course.loader import Course, Week
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
    from .cluster.client import KeptCluster

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
    kept: KeptCluster | None = None,
    on_done: Done = lambda _: None,
    say: Callable[[str], None] = lambda line: None,
) -> Report:
    """Grade submissions; what the store knows is taken from there. Order is kept.

    kept: the connection to the cluster, where there will be more batches.
    """
    name = _sandbox_name(sandbox, cluster)
    try:
        secret = course_secret(course)
        depends = fingerprint(course, week, devices, secret, name)
        store = ResultStore(course.state / "results" / week.name, depends)
    except OSError as error:
        where = error.filename or course.root / ".autograder"
        raise KitError(f"{where}: results cannot be kept: {error.strerror}") from None
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
            work.keep(key, submission)

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
        if kept is not None:
            kept.grade(parcel, work, full, finished, say)
        else:
            grade_on_cluster(cluster, parcel, work, full, finished, say)
    ordered = tuple(reports[n] for n in range(len(submissions)))
    return Report(week.name, devices, ordered, name)


_KEPT_BYTES = 64 << 20  # of what was read to look it up; the rest of a large class is read again


class _Waiting(Mapping[str, Submission]):
    """The submissions to grade, by key; each is looked at when its turn comes."""

    def __init__(
        self,
        submissions: Sequence[Submission],
        numbers: Mapping[str, Sequence[int]],
        store: ResultStore,
    ) -> None:
        self._submissions, self._numbers, self._store = submissions, numbers, store
        self._kept: dict[str, Submission] = {}
        self._room = _KEPT_BYTES

    def keep(self, key: str, submission: Submission) -> None:
        """Have it at hand when its turn comes, if there is room."""
        size = sum(map(len, submission.files.values()))
        if key not in self._kept and size <= self._room:
            self._room -= size
            self._kept[key] = submission

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __getitem__(self, key: str) -> Submission:
        if (kept := self._kept.pop(key, None)) is not None:
            return kept
        submission = self._submissions[self._numbers[key][0]]
        if self._store.key(submission.files) != key:
            raise KitError(
                f"{submission.name} was changed while the class was graded. What was graded is "
                "kept; run the command again to grade the rest"
            )
        return submission


def _sandbox_name(sandbox: str, cluster: Cluster | None) -> str:
    """Which sandbox this will be. On a cluster the strongest: a worker without it refuses."""
    if cluster is not None:
        if sandbox == "none":
            raise KitError("--sandbox none is for your own code, here; on a cluster it is refused")
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
            f"{store.folder}: a result cannot be kept: {error.strerror}. What was graded before is "
            "safe; mend this and run the command again"
        ) from None


def _settle(
    number: int, report: SubmissionReport, reports: dict[int, SubmissionReport], on_done: Done
) -> None:
    reports[number] = report
    on_done(report)
