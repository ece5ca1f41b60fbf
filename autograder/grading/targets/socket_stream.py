"""The grader's end of a child's socket, under a deadline."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable

from ...sandbox.processes import readable

POLL_SECONDS = 0.05
_READ_SIZE = 1 << 14
_LATE_READING = 1.0  # seconds
_SHORTEST = 0.001  # seconds; 0 would mean no time-out


class Stream:
    """Read and write a socket until a deadline; raise TimeoutError after it.

    watch:     called repeatedly during a wait; checks the child's memory
    extension: called at the deadline; returns the seconds by which it moves

    The kernel ends long waits (SO_RCVTIMEO, SO_SNDTIMEO), because Python's own time-out needs an
    additional system call for each wait.
    """

    def __init__(
        self, sock: socket.socket, watch: Callable[[], None], extension: Callable[[], float]
    ) -> None:
        self._sock, self._watch, self._extension = sock, watch, extension
        self._sock.settimeout(None)
        self._wait = -1.0
        self.ahead = memoryview(b"")
        self.begin(0.0, 0.0)

    def begin(self, now: float, seconds: float) -> None:
        """Begin an exchange that may take this many seconds."""
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
            except BlockingIOError:
                continue

    def receive(self, size: int) -> memoryview:
        """Return this many bytes; store the bytes after them in `ahead` for the next call."""
        got = len(self.ahead)
        if got < size:
            view = memoryview(bytearray(max(size, _READ_SIZE)))
            view[:got] = self.ahead
            while got < size:
                self._tick()
                try:
                    count = self._sock.recv_into(view[got:])
                except BlockingIOError:
                    continue
                if not count:
                    raise EOFError
                got += count
            self.ahead = view[:got]
        data, self.ahead = self.ahead[:size], self.ahead[size:]
        return data

    def _tick(self) -> None:
        now = time.monotonic()
        if now >= self._deadline:
            self._extend_or_raise(now)
        if now - self._watched >= POLL_SECONDS:
            self._watched = now
            self._watch()
        wait = max(_SHORTEST, min(self._deadline - now, POLL_SECONDS))
        if wait != self._wait:  # setting it is a system call
            self._wait = wait
            timeval = struct.pack("ll", 0, int(wait * 1_000_000))
            for limit in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
                self._sock.setsockopt(socket.SOL_SOCKET, limit, timeval)

    def _extend_or_raise(self, now: float) -> None:
        self.extend(self._extension())
        if self._deadline > now:
            return
        # The answer may have arrived in time while this process waited for a processor.
        if self._late or not readable(self._sock.fileno(), 0):
            raise TimeoutError
        self._late = True
        self._deadline = now + _LATE_READING
