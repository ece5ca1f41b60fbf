"""Create the parts of the service, and start and stop them together."""

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

import psutil
from sqlalchemy.exc import SQLAlchemyError

from ..model.course import Course
from ..model.submission_files import Files
from ..nbgrader.collect.inbound import ExchangeSubmission
from .dispatch import Dispatcher
from .exchange_inbox import ExchangeInbox, write_feedback
from .grading_process import ClusterGrader, GradingProcess
from .login import Accounts
from .queue import LEASE, Queue
from .recording import GradebookRecorder, Ledger
from .shared_state import Courses, Incidents, Settings, SharedState
from .submissions.submitting import Drafts, Submissions
from .submissions.upload import unpacked
from .tables import GRADED, Leader, QueuedSubmission, open_database
from .views.feedback_release import FeedbackRelease
from .views.staff_log import StaffLog
from .views.view_models import Views, exchange_page

DATABASE = "serve.db"
_THREADS = 24
_MIN_PROCESS_MIB = 1536


class Service:
    """The grading service of one project. Request handlers use its parts as attributes."""

    def __init__(self, course: Course, settings: Settings) -> None:
        engine = open_database(settings.database or f"sqlite:///{course.state / DATABASE}")
        self.settings, self.incidents = settings, Incidents()
        self.queue = Queue(engine, owner=f"{socket.gethostname()}:{course.root}")
        self.courses = Courses(course, self.incidents)
        self.state = SharedState(settings, self.courses, self.queue, self.incidents)
        self.accounts, self.ledger, self.drafts = Accounts(engine), Ledger(engine), Drafts(engine)
        self.leader, self.staff_log = Leader(engine), StaffLog(engine)
        self.processes = _grading_processes(settings)
        self.dispatcher = Dispatcher(self.state, self.processes, self._return_to_exchange)
        self.submissions = Submissions(self.state, self.drafts)
        self.recorder = GradebookRecorder(self.state, self.ledger, self.leader)
        self.feedback = FeedbackRelease(self.state, self.staff_log)
        self.inbox = ExchangeInbox(self.state, self.leader, self._submit_from_exchange)
        self.views = Views(self.state, len(self.processes))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Grade submissions, record results and watch the exchange until the context exits."""
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS, "requests"))
        await asyncio.to_thread(self.queue.start)
        parts = (self.dispatcher.run, self.recorder.run, self.inbox.run, self._renew_leases)
        tasks = [asyncio.create_task(part()) for part in parts]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self.dispatcher.close()
            self.recorder.process.end()
            self.feedback.process.end()
            self.leader.resign()

    async def _renew_leases(self) -> None:
        while True:
            await asyncio.sleep(LEASE / 4)
            with contextlib.suppress(SQLAlchemyError):  # the dispatcher reports database errors
                await asyncio.to_thread(self.queue.renew)

    def _submit_from_exchange(self, found: ExchangeSubmission, files: Files) -> QueuedSubmission:
        submission = self.submissions.submit_from_exchange(found, files)
        if submission.source != found.source and submission.state == GRADED:
            # The submission is unchanged, but nbgrader looks up the result by the new secret.
            self._return_to_exchange(submission, files)
        return submission

    def _return_to_exchange(self, submission: QueuedSubmission, files: Files | None = None) -> None:
        """Write a preliminary result to the exchange if the submission is from the exchange.

        files: equal files from the exchange with the student's secret; default: those of
               `submission`
        """
        course, week = self.courses.now, self.courses.week(submission.week)
        if (files is None and submission.channel != "exchange") or week is None:
            return
        try:
            files = files or unpacked(self.queue.content(submission.digest))
            page = exchange_page(course, week, self.views.submission(submission))
            write_feedback(course, week, submission.student, page, files)
            self.incidents.close("feedback")
        except OSError as error:
            message = f"first results cannot be written to the exchange: {error}"
            self.incidents.open("feedback", message)


def _grading_processes(settings: Settings) -> list[GradingProcess]:
    if settings.cluster is not None:
        return [ClusterGrader(settings.cluster, settings)]
    count = settings.processes or os.cpu_count() or 1
    half_mib = psutil.virtual_memory().total >> 21
    max_mib = settings.process_mib or max(_MIN_PROCESS_MIB, half_mib // count)
    return [GradingProcess(number, max_mib, settings) for number in range(1, count + 1)]
