"""Wake open pages when their submission changes."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager


class LiveUpdates:
    """Subscriptions by receipt. Methods run in the event loop's thread unless named otherwise."""

    def __init__(self) -> None:
        self.subscribers: dict[str, set[asyncio.Event]] = defaultdict(set)
        self.loop: asyncio.AbstractEventLoop | None = None

    def attach_loop(self) -> None:
        self.loop = asyncio.get_running_loop()

    @contextmanager
    def subscribe(self, receipt: str) -> Iterator[asyncio.Event]:
        """Yield an event that is set when the submission changes."""
        event = asyncio.Event()
        self.subscribers[receipt].add(event)
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
