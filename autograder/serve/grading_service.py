"""The parts of the service, and how they start and stop together."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TypeVar

import psutil
from sqlalchemy.exc import SQLAlchemyError

from ..model.course import Course
from ..model.report.schema import SubmissionReport
from .auth.accounts import Accounts
from .courses import Courses
from .gradebook.exchange_inbox import ExchangeInbox, write_feedback
from .gradebook.ledger import Ledger
from .gradebook.recording import GradebookRecorder
from .incidents import Incidents
from .queue.dispatch import Dispatcher
from .queue.grading_process import GradingProcess
from .queue.leader import Leader
from .queue.queue import LEASE, Queue
from .queue.queued_submission import QueuedSubmission
from .shared_state import Settings, SharedState
from .submissions.drafts import Drafts
from .submissions.submitting import Submissions
from .submissions.upload import unpacked
from .tables import open_database
from .views.class_view import ClassView, class_view
from .views.live_updates import LiveUpdates
from .views.templating import exchange_page
from .views.view_models import Views

Result = TypeVar("Result")
DATABASE = "serve.db"
_THREADS = 24
_BACKGROUND_THREADS = 2  # for event streams: there are many, and submissions go first
_CLASS_VIEW_SECONDS = 3.0  # for which a computed class view is reused
_MIN_PROCESS_MIB = 1536


class Service:
    """Everything that the routes need."""

    def __init__(self, course: Course, settings: Settings) -> None:
        engine = open_database(settings.database or f"sqlite:///{course.state / DATABASE}")
        self.settings = settings
        self.incidents, self.updates = Incidents(), LiveUpdates()
        self.queue = Queue(engine, owner=f"{socket.gethostname()}:{course.root}")
        self.courses = Courses(course, self.incidents, time.monotonic)
        self.state = SharedState(settings, self.courses, self.queue, self.incidents, self.updates)
        self.accounts, self.ledger, self.drafts = Accounts(engine), Ledger(engine), Drafts(engine)
        self.leader = Leader(engine)
        count = settings.processes or os.cpu_count() or 1
        if settings.cluster is not None:
            count = 1  # sends batches
        half_mib = psutil.virtual_memory().total >> 21
        max_mib = settings.process_mib or max(_MIN_PROCESS_MIB, half_mib // count)
        processes = [
            GradingProcess(number, max_mib, settings.niceness) for number in range(1, count + 1)
        ]
        self.dispatcher = Dispatcher(self.state, processes, self._return_to_exchange)
        self.submissions = Submissions(self.state, self.drafts, self.wake)
        self.recorder = GradebookRecorder(self.state, self.ledger, self.leader)
        self.inbox = ExchangeInbox(self.state, self.leader, self.submissions.submit_from_exchange)
        self.views = Views(self.state, self.dispatcher)
        self._background = ThreadPoolExecutor(_BACKGROUND_THREADS, "background")
        self._class_view_lock = threading.Lock()
        self._class_view: tuple[float, ClassView] | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Grade, record and watch the exchange until the context ends."""
        self.updates.attach_loop()
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS, "requests"))
        await asyncio.to_thread(self.queue.start)
        await self.dispatcher.warm_up()
        parts = (self.dispatcher, self.recorder, self.inbox)
        tasks = [asyncio.create_task(part.run()) for part in parts]
        tasks.append(asyncio.create_task(self._renew_leases()))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self.dispatcher.close()
            self.recorder.process.end()
            self.leader.resign()
            self._background.shutdown(wait=False, cancel_futures=True)

    async def _renew_leases(self) -> None:
        while self.queue.shared:
            await asyncio.sleep(LEASE / 4)
            with contextlib.suppress(SQLAlchemyError):  # the dispatcher reports it
                if await asyncio.to_thread(self.queue.renew):
                    self.dispatcher.wake.set()

    async def run_background(self, function: Callable[[], Result]) -> Result:
        """Return a function's result; it runs in one of few threads, after submissions."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._background, function)

    def class_view(self) -> ClassView:
        """Return the class view; it is computed at most every few seconds. Blocks."""
        with self._class_view_lock:
            now = time.monotonic()
            if self._class_view is None or now - self._class_view[0] > _CLASS_VIEW_SECONDS:
                view = class_view(self.state, self.ledger, self.dispatcher.processes)
                self._class_view = (now, view)
            return self._class_view[1]

    def wake(self) -> None:
        """Wake the dispatcher from a thread."""
        loop = self.updates.loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self.dispatcher.wake.set)

    def _return_to_exchange(self, submission: QueuedSubmission, _: SubmissionReport) -> None:
        """Write the first result for a submission that came through the exchange."""
        course, week = self.courses.now, self.courses.week(submission.week)
        if submission.channel != "exchange" or week is None:
            return
        try:
            files = unpacked(self.queue.content(submission.digest))
            current = self.queue.find(submission.receipt) or submission
            page = exchange_page(course, week, self.views.submission(current))
            write_feedback(course, week, submission.student, page, files)
            self.incidents.close("feedback")
        except OSError as error:
            message = f"first results cannot be written to the exchange: {error}"
            self.incidents.open("feedback", message)
