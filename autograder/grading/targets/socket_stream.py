"""The trusted end of a child's socket."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable

from ...sandbox.processes import readable

POLL_SECONDS = 0.05
_AT_ONCE = 1 << 14  # bytes
_LATE_READING = 1.0  # seconds
_SHORTEST = 0.001  # seconds; none at all would be without end


class Stream:
    """A child's socket under deadlines; the child's memory is looked at all the while.

    The kernel ends what waits too long (SO_RCVTIMEO, SO_SNDTIMEO): Python's own time-out would ask
    it twice each time. `extension` is asked at the deadline for how many seconds it is to be put
    off.
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
        """From now on there are so many seconds; what came before is of another exchange."""
        self._deadline, self._looked = now + seconds, now
        self.extended, self._late = 0.0, False

    def put_off(self, seconds: float) -> None:
        """What the other side waited for us is not its time."""
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
        """Return this many bytes; what came with them is kept in `ahead` for the next call."""
        got = len(self.ahead)
        if got < size:
            view = memoryview(bytearray(max(size, _AT_ONCE)))
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
            self._put_off(now)
        if now - self._looked >= POLL_SECONDS:
            self._looked = now
            self._watch()
        wait = max(_SHORTEST, min(self._deadline - now, POLL_SECONDS))
        if wait != self._wait:  # setting it is a system call
            self._wait = wait
            for limit in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
                self._sock.setsockopt(socket.SOL_SOCKET, limit, _timeval(wait))

    def _put_off(self, now: float) -> None:
        more = self._extension()
        self.extended += more
        self._deadline += more
        if self._deadline > now:
            return
        # What came in time may be read late, where it was we who waited for a processor.
        if self._late or not readable(self._sock.fileno(), 0):
            raise TimeoutError
        self._late = True
        self._deadline = now + _LATE_READING


def _timeval(seconds: float) -> bytes:
    return struct.pack("ll", 0, int(seconds * 1_000_000))
