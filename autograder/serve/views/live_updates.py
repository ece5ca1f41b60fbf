"""Wake open pages when something changes, and track how far grading has come."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

_MAX_TRACKED = 500


class LiveUpdates:
    """Subscriptions by receipt, and the progress of submissions that are being graded.

    Methods run in the event loop's thread, except `notify_from_thread` and `check_ran`.
    """

    def __init__(self) -> None:
        self.subscribers: dict[str, set[asyncio.Event]] = {}
        self.loop: asyncio.AbstractEventLoop | None = None
        self.progress: dict[str, dict[str, int]] = {}  # receipt -> exercise -> checks that ran
        self._running: dict[str, tuple[str, int]] = {}  # the exercise whose checks still run

    def attach_loop(self) -> None:
        self.loop = asyncio.get_running_loop()

    @contextmanager
    def subscribe(self, receipt: str) -> Iterator[asyncio.Event]:
        """Yield an event that is set when the submission changes."""
        event = asyncio.Event()
        self.subscribers.setdefault(receipt, set()).add(event)
        try:
            yield event
        finally:
            self.subscribers[receipt].discard(event)
            if not self.subscribers[receipt]:
                del self.subscribers[receipt]

    def notify(self, *receipts: str) -> None:
        for receipt in receipts:
            for event in self.subscribers.get(receipt, ()):
                event.set()

    def notify_from_thread(self, *receipts: str) -> None:
        if self.loop is not None and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.notify, *receipts)

    def check_ran(self, receipt: str, exercise: str) -> None:
        """Count a check that has run; publish an exercise's count when the next exercise begins.

        A submission controls how long each check takes, so publishing each check would leak
        information through the time of publication.
        """
        current, count = self._running.get(receipt, (exercise, 0))
        if current != exercise:
            self.progress.setdefault(receipt, {})[current] = count
            self.notify_from_thread(receipt)
            count = 0
        self._running[receipt] = (exercise, count + 1)

    def grading_began(self, receipt: str) -> None:
        self.progress[receipt] = {}
        self._running.pop(receipt, None)
        while len(self.progress) > _MAX_TRACKED:
            oldest = next(iter(self.progress))
            del self.progress[oldest]
            self._running.pop(oldest, None)
        self.notify(receipt)
