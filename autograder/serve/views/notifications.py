"""Who waits for what: whoever looks at a page is woken when something changes there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

CLASS = "class"  # the topic of the instructors' view; else a receipt
_KEPT = 500


class News:
    """Wakes those who listen to a topic, and keeps how far the grading of a try has come.

    Called in the event loop's thread; `heard` and `stir` from any.
    """

    def __init__(self) -> None:
        self._listening: dict[str, set[asyncio.Event]] = {}
        self.loop: asyncio.AbstractEventLoop | None = None
        self.grown: dict[str, dict[str, int]] = {}  # receipt -> exercise -> checks that ran
        self._running: dict[str, tuple[str, int]] = {}  # an exercise whose checks still run

    def begin(self) -> None:
        self.loop = asyncio.get_running_loop()

    @contextmanager
    def listen(self, topic: str) -> Iterator[asyncio.Event]:
        event = asyncio.Event()
        self._listening.setdefault(topic, set()).add(event)
        try:
            yield event
        finally:
            listening = self._listening[topic]
            listening.discard(event)
            if not listening:
                del self._listening[topic]

    def tell(self, *topics: str) -> None:
        for topic in (*topics, CLASS):
            for event in self._listening.get(topic, ()):
                event.set()

    def stir(self, *topics: str) -> None:
        """Tell, from a thread."""
        if self.loop is not None and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.tell, *topics)

    def heard(self, receipt: str, exercise: str) -> None:
        """Note a check that has run, from a thread; report an exercise when the next one begins.

        A submission chooses how long each check takes, so reporting each one would tell its author
        something by the time at which it is reported.
        """
        running, ran = self._running.get(receipt, (exercise, 0))
        if running != exercise:
            self.grown.setdefault(receipt, {})[running] = ran
            self.stir(receipt)
            ran = 0
        self._running[receipt] = (exercise, ran + 1)

    def begun(self, receipt: str) -> None:
        """A try is graded from its beginning."""
        self.grown[receipt] = {}
        self._running.pop(receipt, None)
        while len(self.grown) > _KEPT:
            oldest = next(iter(self.grown))
            del self.grown[oldest]
            self._running.pop(oldest, None)
        self.tell(receipt)
