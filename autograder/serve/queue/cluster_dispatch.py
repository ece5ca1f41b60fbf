"""Grade batches of submissions on a Dask cluster.

The connection stays open, so workers receive the course's files only once.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping

import msgspec

from ...batch.cluster import Cluster
from ...batch.grade import grade_batch
from ...model.report.schema import SubmissionReport
from ..shared_state import Settings
from .grading_process import Done, GradingProcess, PreparedSubmission


class ClusterGrader(GradingProcess):
    """Sends batches to a cluster, one at a time."""

    max_batch = 64

    def __init__(self, cluster: Cluster, settings: Settings) -> None:
        from ...batch.cluster.client import ClusterSession

        super().__init__(1, 0, settings)
        self._session = ClusterSession(cluster)

    async def grade(self, prepared: Mapping[str, PreparedSubmission], done: Done) -> None:
        by_release: dict[str, dict[str, PreparedSubmission]] = defaultdict(dict)
        for receipt, submission in prepared.items():
            by_release[str(submission.course.root)][receipt] = submission
        for batch in by_release.values():
            await asyncio.to_thread(self._grade_release, batch, done, asyncio.get_running_loop())

    def _grade_release(
        self,
        batch: Mapping[str, PreparedSubmission],
        done: Done,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        def on_done(report: SubmissionReport) -> None:
            student = batch[report.name].submission.name
            named = msgspec.structs.replace(report, name=student)
            asyncio.run_coroutine_threadsafe(done(report.name, named), loop).result()

        course, week, _ = next(iter(batch.values()))
        grade_batch(
            course,
            week,
            [msgspec.structs.replace(p.submission, name=receipt) for receipt, p in batch.items()],
            devices=self.settings.devices,
            sandbox=self.settings.sandbox,
            cluster=self.settings.cluster,
            session=self._session,
            on_done=on_done,
        )

    def end(self) -> None:
        self._session.close()
