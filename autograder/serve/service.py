"""The service as one thing: its parts, their start and their end."""

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
from typing import Any, TypeVar

import msgspec
from sqlalchemy.exc import SQLAlchemyError

from ..batch.cluster import Cluster
from ..model.course.loader import Course
from ..model.report.schema import SubmissionReport
from .auth.accounts import People
from .courses import Courses
from .gradebook.exchange_inbox import Inbox, handed_back
from .gradebook.ledger import Ledger
from .gradebook.settle import Settler
from .problems import Troubles
from .queue.dispatch import Dispatcher
from .queue.leader import Chair
from .queue.leases import LEASE
from .queue.queue import Queue, Try
from .queue.tables import open_database
from .queue.workers import Lane
from .submissions import upload
from .submissions.drafts import Drafts
from .submissions.submitting import Submitting
from .views.class_view import ClassView, class_view
from .views.notifications import News
from .views.view_models import Views

Answer = TypeVar("Answer")
DATABASE = "serve.db"
_THREADS = 24
_LOOKING = 2  # threads for pages that are open: many are, and whoever hands in goes before them
_CLASS_SECONDS = 3.0  # for which a look at the class is good


class Settings(msgspec.Struct, frozen=True):
    """How the service was started."""

    prefix: str = "/"  # of every path
    secure: bool = False  # reached by https
    address: str = ""  # by which browsers reach it: host and port
    database: str = ""  # an URL; default: a file in the project's private folder
    lanes: int = 0  # default: one for each core
    lane_mib: int = 0  # default: half of the memory, shared by the lanes
    niceness: int = 10  # of grading, to whoever hands in
    devices: tuple[str, ...] = ("cpu",)
    sandbox: str = "bubblewrap"
    cluster: Cluster | None = None
    instructors: tuple[str, ...] = ()  # on a JupyterHub: NAME or group:NAME


class Service(Submitting):
    """Everything that routes need."""

    def __init__(self, course: Course, settings: Settings) -> None:
        self.settings = settings
        self.troubles, self.news = Troubles(), News()
        url = settings.database or f"sqlite:///{course.state / DATABASE}"
        engine = open_database(url)
        owner = f"{socket.gethostname()}:{course.root}"
        self.queue = Queue(engine, owner=owner)
        self.people, self.ledger = People(engine), Ledger(engine)
        self.drafts = Drafts(engine)
        self.chair = Chair(engine)
        self.courses = Courses(course, self.troubles, time.monotonic)
        count = settings.lanes or os.cpu_count() or 1
        if settings.cluster is not None:
            count = 1  # which hands out batches
        most = settings.lane_mib or _share(count)
        nice = settings.niceness
        self.lanes = [Lane(n + 1, most, self.news.heard, nice) for n in range(count)]
        how: dict[str, Any] = {"devices": settings.devices, "sandbox": settings.sandbox}
        self.dispatcher = Dispatcher(
            self.courses,
            self.queue,
            self.lanes,
            self.news,
            self.troubles,
            cluster=settings.cluster,
            **how,
        )
        self.dispatcher.finished.append(self._hand_back)
        self.settler = Settler(
            self.courses,
            self.queue,
            self.ledger,
            self.troubles,
            self.chair,
            niceness=nice,
            **how,
        )
        self.inbox = Inbox(self.courses, self.queue, self.troubles, self.chair, self.take_found)
        self._looking = threading.Lock()
        self._lookers = ThreadPoolExecutor(_LOOKING, "looking")
        self._class: tuple[float, ClassView | None] = (0.0, None)
        self.views = Views(self.courses, self.queue, self.dispatcher, self.news)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Grade, watch and settle while this lasts."""
        self.news.begin()
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS, "asking"))
        await asyncio.to_thread(self.queue.start)
        await self.dispatcher.warm()
        tasks = [
            asyncio.create_task(part.run()) for part in (self.dispatcher, self.settler, self.inbox)
        ]
        tasks.append(asyncio.create_task(self._renew()))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self.dispatcher.close()
            self.settler.helper.end()
            self.chair.leave()
            self._lookers.shutdown(wait=False, cancel_futures=True)

    async def _renew(self) -> None:
        """Say to other services that this one lives, and take over from those that do not."""
        while self.queue.shared:
            await asyncio.sleep(LEASE / 4)
            with contextlib.suppress(SQLAlchemyError):  # the dispatcher says so
                if await asyncio.to_thread(self.queue.renew):
                    self.dispatcher.wake.set()

    async def look(self, ask: Callable[[], Answer]) -> Answer:
        """What it returns, for a page that stays open."""
        return await asyncio.get_running_loop().run_in_executor(self._lookers, ask)

    def class_view(self) -> ClassView:
        """The class as it is, or was a moment ago: looking takes long, and many look. Blocks."""
        with self._looking:
            when, view = self._class
            if view is None or time.monotonic() - when > _CLASS_SECONDS:
                view = class_view(
                    self.courses, self.queue, self.ledger, self.dispatcher, self.troubles
                )
                self._class = (time.monotonic(), view)
            return view

    def wake(self) -> None:
        """Tell the dispatcher that there is something to do; from a thread."""
        loop = self.news.loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self.dispatcher.wake.set)

    def _hand_back(self, one: Try, _: SubmissionReport) -> None:
        """What came through the exchange gets its page there."""
        if one.door != "exchange":
            return
        from .views.templating import exchange_page

        week = self.courses.week(one.week)
        if week is None:
            return
        try:
            content = upload.unpacked(self.queue.content(one.digest))
            view = self.views.one(self.queue.find(one.receipt) or one)
            page = exchange_page(self.courses.now, week, view)
            handed_back(self.courses.now, week, one, page, content)
            self.troubles.end("feedback")
        except OSError as error:
            self.troubles.begin("feedback", f"the exchange takes no feedback: {error}")


def _share(lanes: int) -> int:
    import psutil

    return max(1536, int((psutil.virtual_memory().total >> 20) / 2 / lanes))
