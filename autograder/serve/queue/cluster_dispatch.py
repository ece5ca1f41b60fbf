"""Grade batches of submissions on a Dask cluster.

The connection stays open, so workers receive the course's files only once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping

import msgspec

from ...batch.cluster import Cluster
from ...batch.grade import grade_batch
from ...model.report.schema import SubmissionReport
from .jobs import PreparedSubmission

MAX_BATCH = 64


class ClusterBatches:
    """Sends batches to a cluster, one at a time."""

    def __init__(self, cluster: Cluster, devices: tuple[str, ...], sandbox: str) -> None:
        from ...batch.cluster.client import ClusterSession

        self._cluster, self._devices, self._sandbox = cluster, devices, sandbox
        self._connection = ClusterSession(cluster)

    def grade(
        self,
        prepared: Mapping[str, PreparedSubmission],
        done: Callable[[str, SubmissionReport], None],
    ) -> None:
        """Grade submissions by receipt; pass each report to `done` as soon as it exists. Blocks."""
        by_release: dict[str, dict[str, PreparedSubmission]] = defaultdict(dict)
        for receipt, submission in prepared.items():
            if submission.report is not None:
                done(receipt, submission.report)
            else:
                by_release[str(submission.course.root)][receipt] = submission
        for batch in by_release.values():
            self._grade_release(batch, done)

    def _grade_release(
        self,
        batch: Mapping[str, PreparedSubmission],
        done: Callable[[str, SubmissionReport], None],
    ) -> None:
        def on_done(report: SubmissionReport) -> None:
            student = batch[report.name].submission.name
            done(report.name, msgspec.structs.replace(report, name=student))

        first = next(iter(batch.values()))
        grade_batch(
            first.course,
            first.week,
            [msgspec.structs.replace(p.submission, name=receipt) for receipt, p in batch.items()],
            devices=self._devices,
            sandbox=self._sandbox,
            cluster=self._cluster,
            session=self._connection,
            on_done=on_done,
        )

    def close(self) -> None:
        self._connection.close()
