"""The grader's end of a child's socket, under a deadline."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

from ...sandbox.processes import readable

POLL_SECONDS = 0.05
_LATE_READING = 1.0  # seconds
_SHORTEST = 0.001  # seconds; 0 would not wait


class Stream:
    """Read and write a socket until a deadline; raise TimeoutError after it.

    watch:     called all the while; checks the child's memory
    extension: called at the deadline; returns the seconds by which it moves
    """

    def __init__(
        self, sock: socket.socket, watch: Callable[[], None], extension: Callable[[], float]
    ) -> None:
        self._sock, self._watch, self._extension = sock, watch, extension
        self.begin(0.0, 0.0)

    def begin(self, now: float, seconds: float) -> None:
        """Begin an exchange that may take so many seconds from now."""
        self._deadline, self._watched = now + seconds, now
        self.extended, self._late = 0.0, False

    def extend(self, seconds: float) -> None:
        """Move the deadline by time that the other side waited for the grader."""
        self.extended += seconds
        self._deadline += seconds

    def send(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            self._tick()
            try:
                view = view[self._sock.send(view) :]
            except TimeoutError:  # of this wait, not the deadline
                continue

    def receive(self, size: int) -> memoryview:
        """Return exactly this many bytes."""
        data = memoryview(bytearray(size))
        left = data
        while left:
            self._tick()
            try:
                count = self._sock.recv_into(left)
            except TimeoutError:
                continue
            if not count:
                raise EOFError
            left = left[count:]
        return data

    def _tick(self) -> None:
        now = time.monotonic()
        if now >= self._deadline:
            self._extend_or_raise(now)
        if now - self._watched >= POLL_SECONDS:
            self._watched = now
            self._watch()
        self._sock.settimeout(max(_SHORTEST, min(self._deadline - now, POLL_SECONDS)))

    def _extend_or_raise(self, now: float) -> None:
        self.extend(self._extension())
        if self._deadline > now:
            return
        # An answer that came in time is read late if this process waited for a processor.
        if self._late or not readable(self._sock.fileno(), 0):
            raise TimeoutError
        self._late = True
        self._deadline = now + _LATE_READING
