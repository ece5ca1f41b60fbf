"""From the queue to the lanes and back, whatever fails in between.

A try that could not be graded through a fault of ours waits and is graded again, the longer the
oftener; after some attempts it is `stuck` and waits for a person. Whatever the database or the disk
refuses is tried again until it is accepted: a result that was reached is not given up.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from ...batch.cluster import Cluster
from ...model.errors import KitError
from ...model.report.schema import SubmissionReport
from ...model.report.verdicts import Ending
from ..courses import Courses
from ..problems import Troubles
from ..views.notifications import News
from .cluster_dispatch import MOST_AT_ONCE, RemoteBatches
from .jobs import Work, job_for, make_ready
from .leases import RUNNING
from .queue import Queue, Try
from .tables import first_line
from .workers import Lane, LaneDied

_ATTEMPTS = 4
_PAUSE, _LONGEST_PAUSE = 5.0, 300.0
_AGAIN = 2.0  # seconds until the database is asked again
_LOOK = 1.0  # seconds after which the line is looked at again, if nothing was told
_FIRST_GUESS, _COLD = 8.0, 15.0  # seconds for a try, and for an engine, before any is known
_SURE = 0.8  # the share of tries that are to be done within what is said
_RECENT = 300.0  # seconds whose arrivals tell how many will come
_MOST_OVERTAKEN = 0.8  # the share of the grading that those who come later and go first may take

Answer = TypeVar("Answer")


class _LaneFailed(Exception):
    """A fault of ours, in words for the instructor."""


class Dispatcher:
    """Keeps the lanes busy."""

    def __init__(
        self,
        courses: Courses,
        queue: Queue,
        lanes: Sequence[Lane],
        news: News,
        troubles: Troubles,
        *,
        devices: tuple[str, ...],
        sandbox: str,
        cluster: Cluster | None = None,
    ) -> None:
        self.courses, self.queue, self.lanes = courses, queue, lanes
        self.news, self.troubles = news, troubles
        self.devices, self.sandbox = devices, sandbox
        self.remote = RemoteBatches(cluster, devices, sandbox) if cluster else None
        self.wake = asyncio.Event()
        self.finished: list[Callable[[Try, SubmissionReport], Any]] = []  # told in a thread
        self._idle = list(lanes)
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Grade whatever is in line, for ever."""
        while True:
            self.wake.clear()
            one = await self._claimed() if self._idle else None
            if one is None:
                try:
                    await asyncio.wait_for(self.wake.wait(), _LOOK)
                except TimeoutError:
                    await asyncio.to_thread(self.troubles.look_at_the_clock)
                continue
            lane = self._lane_for(one.week)
            self._idle.remove(lane)
            self._start(self._grade(lane, one) if self.remote is None else self._afar(lane, one))

    def _start(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Let go of everything; what was begun is graded again at the next start."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for lane in self.lanes:
            lane.end()
        if self.remote is not None:
            await asyncio.to_thread(self.remote.close)

    async def warm(self) -> None:
        """Make the engine of the week that is due next, in every lane."""
        weeks = await asyncio.to_thread(self.courses.open_weeks)
        if not weeks or self.remote is not None:
            return
        course = await asyncio.to_thread(lambda: self.courses.now)
        job = await asyncio.to_thread(job_for, course, weeks[0], self.devices, self.sandbox)
        for lane in [lane for lane in self._idle if not lane.weeks]:
            self._idle.remove(lane)
            self._start(self._warmed(lane, job))

    async def _warmed(self, lane: Lane, job: Any) -> None:
        lane.busy = f"{job.week} (getting ready)"
        try:
            await lane.warm(job)
        except Exception as error:  # the first try of the week tells what is wrong
            self.troubles.begin("warm", f"{job.week} cannot be made ready: {error}")
        finally:
            lane.busy = ""
            self._idle.append(lane)
            self.wake.set()

    def _lane_for(self, week: str) -> Lane:
        """An idle lane: one that has the week's engine, else the one with the fewest."""
        return min(self._idle, key=lambda lane: (week not in lane.weeks, len(lane.weeks)))

    async def _claimed(self, weeks: Sequence[str] | None = None) -> Try | None:
        try:
            one = await asyncio.to_thread(self.queue.claim, weeks)
        except SQLAlchemyError as error:
            self.troubles.begin("database", f"the database does not answer: {first_line(error)}")
            return None
        self.troubles.end("database")
        return one

    # One try

    async def _grade(self, lane: Lane, one: Try) -> None:
        lane.busy = one.week
        self.news.begun(one.receipt)
        started = time.monotonic()
        try:
            try:
                report = await self._report(lane, one)
            except (_LaneFailed, LaneDied, KitError, OSError, TimeoutError) as error:
                await self._put_back(one, str(error) or type(error).__name__)
                return
            except SQLAlchemyError as error:
                await self._put_back(one, first_line(error))
                return
            except Exception as error:  # of one try, never of the service
                await self._put_back(one, f"{type(error).__name__}: {error}")
                return
            await self._finish(one, report, time.monotonic() - started)
        finally:
            lane.busy = ""
            self._idle.append(lane)
            self.wake.set()
            self.news.tell(one.receipt)

    async def _finish(self, one: Try, report: SubmissionReport, seconds: float) -> None:
        await self._insist(self.queue.finish, one, report, seconds)
        for tell in self.finished:
            await asyncio.to_thread(tell, one, report)
        self.troubles.end("grading")

    async def _report(self, lane: Lane, one: Try) -> SubmissionReport:
        work = await asyncio.to_thread(self._made_ready, one)
        if work.known is not None:
            return work.known
        most = 10 * work.course.limits(work.week).submission_seconds + 120
        try:
            graded = lane.grade(work.job, work.submission, one.receipt)
            report = await asyncio.wait_for(graded, most)
        except TimeoutError:
            lane.end()
            raise _LaneFailed(f"grading took more than {most:.0f} s and was ended") from None
        if report.verdict is Ending.GRADER_FAULT:
            raise _LaneFailed(report.message)
        return await asyncio.to_thread(work.keep, report)

    def _made_ready(self, one: Try) -> Work:
        week = self.courses.week(one.week)
        if week is None:
            raise _LaneFailed(f"{one.week} is no longer in course.yaml")
        content = self.queue.content(one.digest)
        return make_ready(self.courses.now, week, one, content, self.devices, self.sandbox)

    # Many tries, on a cluster

    async def _afar(self, lane: Lane, first: Try) -> None:
        """Grade all that waits for a week in one batch; each is told as soon as it is there."""
        assert self.remote is not None
        lane.busy, started = first.week, time.monotonic()
        open_tries = {first.receipt: first}
        try:
            while len(open_tries) < MOST_AT_ONCE and (more := await self._claimed([first.week])):
                open_tries[more.receipt] = more
            works: dict[str, Work] = {}
            for one in list(open_tries.values()):
                self.news.begun(one.receipt)
                works[one.receipt] = await asyncio.to_thread(self._made_ready, one)
            loop = asyncio.get_running_loop()

            def done(receipt: str, report: SubmissionReport) -> None:
                one = open_tries.pop(receipt)
                seconds = time.monotonic() - started
                asyncio.run_coroutine_threadsafe(self._came_back(one, report, seconds), loop)

            await asyncio.to_thread(self.remote.grade, works, done)
        except Exception as error:  # of one batch, never of the service
            why = first_line(error) if isinstance(error, SQLAlchemyError) else str(error)
            for one in list(open_tries.values()):
                await self._put_back(one, why or type(error).__name__)
        finally:
            lane.busy = ""
            self._idle.append(lane)
            self.wake.set()

    async def _came_back(self, one: Try, report: SubmissionReport, seconds: float) -> None:
        if report.verdict is Ending.GRADER_FAULT:
            await self._put_back(one, report.message)
        else:
            await self._finish(one, report, seconds)
        self.news.tell(one.receipt)

    async def _put_back(self, one: Try, why: str) -> None:
        pause = min(_LONGEST_PAUSE, _PAUSE * 2 ** (one.attempts - 1))
        state = await self._insist(self.queue.put_back, one, why, pause, _ATTEMPTS)
        said = f"{one.receipt} ({one.week}) could not be graded: {why}"
        again = "waits for you" if state == "stuck" else f"is tried again in {pause:.0f} s"
        self.troubles.begin("grading", f"{said}; it {again}")

    async def _insist(self, write: Callable[..., Answer], *arguments: Any) -> Answer:
        """Write to the database, however long it takes until it can be written to."""
        while True:
            try:
                answer = await asyncio.to_thread(write, *arguments)
            except (SQLAlchemyError, OSError) as error:
                self.troubles.begin("writing", f"a result cannot be kept: {first_line(error)}")
                await asyncio.sleep(_AGAIN)
                continue
            self.troubles.end("writing")
            return answer

    # What is said of the wait

    def estimate(self, one: Try) -> tuple[int, float]:
        """How many go before a try, and in how many seconds it is done, most likely."""
        each = typical(self.queue.durations(one.week))
        if one.state == RUNNING:
            return 0, each
        line = self.queue.waiting(one)
        lanes = max(1, len(self.lanes))
        rounds = math.floor((line.ahead + line.running) / lanes) + 1
        wait = rounds * each
        if line.ahead:  # while it waits others come, who had fewer tries
            taken = self.queue.overtaking(one, _RECENT) * each / lanes
            wait /= 1 - min(_MOST_OVERTAKEN, taken)
        ready = any(one.week in lane.weeks for lane in self.lanes) or self.remote is not None
        pause = max(0.0, one.not_before - self.queue.clock())
        return line.ahead, pause + wait + (0.0 if ready else _COLD)


def typical(durations: Sequence[float]) -> float:
    """A time within which most tries are done."""
    if not durations:
        return _FIRST_GUESS
    ordered = sorted(durations)
    return max(1.0, ordered[min(len(ordered) - 1, int(len(ordered) * _SURE))])
