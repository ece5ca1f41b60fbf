"""Grading on a Dask cluster: all that waits for a week in one batch, over a connection that stays.

What a worker needs of the course goes to it once, for as long as the service runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from ...batch.cluster import Cluster
from ...batch.grade import grade_batch
from ...model.report.schema import SubmissionReport
from .jobs import Work

MOST_AT_ONCE = 64


class RemoteBatches:
    """Hands batches to a cluster, one at a time."""

    def __init__(self, cluster: Cluster, devices: tuple[str, ...], sandbox: str) -> None:
        from ...batch.cluster.client import ClusterSession

        self._cluster, self._devices, self._sandbox = cluster, devices, sandbox
        self._kept = ClusterSession(cluster)

    def grade(
        self, works: Mapping[str, Work], done: Callable[[str, SubmissionReport], None]
    ) -> None:
        """Grade tries by receipt; `done` gets each report as soon as it is there. Blocks."""
        by_course: dict[str, list[tuple[str, Work]]] = {}
        for receipt, work in works.items():
            if work.known is not None:
                done(receipt, work.known)
            else:
                by_course.setdefault(str(work.course.root), []).append((receipt, work))
        for group in by_course.values():
            self._batch(dict(group), done)

    def _batch(
        self, works: Mapping[str, Work], done: Callable[[str, SubmissionReport], None]
    ) -> None:
        def told(report: SubmissionReport) -> None:
            student = works[report.name].submission.name
            done(report.name, msgspec.structs.replace(report, name=student))

        first = next(iter(works.values()))
        grade_batch(
            first.course,
            first.week,
            [msgspec.structs.replace(w.submission, name=r) for r, w in works.items()],
            devices=self._devices,
            sandbox=self._sandbox,
            cluster=self._cluster,
            session=self._kept,
            on_done=told,
        )

    def close(self) -> None:
        self._kept.close()
