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
        """A check of a try has run; from a thread."""
        own = self.grown.setdefault(receipt, {})
        own[exercise] = own.get(exercise, 0) + 1
        self.stir(receipt)

    def begun(self, receipt: str) -> None:
        """A try is graded from its beginning."""
        self.grown[receipt] = {}
        while len(self.grown) > _KEPT:
            del self.grown[next(iter(self.grown))]
        self.tell(receipt)
