"""Limit the time and the grader's memory that one submission can use.

Theory of operation. A submission chooses the size of its replies. The grader stores replies under
three quotas, so that later submissions never lack memory:

- one reply: `reply_mib` (course.yaml), and `frames.MAX_REPLY_HEADER` for its header
- all replies of one hidden test, which are needed until the test ends: `reply_mib`
- all replies in failed tests, which are kept for the diagnosis: `KEPT_BYTES`. If the replies of a
  test exceed the quota, the test is not diagnosed. The quota is ample: the replies of a
  misconception take less than a hundredth of it.

A hidden test or the solution could also use up the machine's memory while it processes an
unexpected reply. `ceiling` makes the kernel refuse the allocation, so the test ends with an error,
which counts against the submission if the solution passes the test.

Each call, exercise and submission has a wall-clock time limit. While the submission's process is
ready to run but waits for a processor, the clocks stop, because the submission is not to blame
for a busy machine. `_PATIENCE` limits the total of these waits. `Stream` reads replies until a
deadline.
"""

import contextlib
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator
from enum import IntEnum

import psutil

from ...model.course import Limits
from ...sandbox import Child
from ...sandbox.processes import readable
from ..outcomes import TimedOut

KEPT_BYTES = 16 << 20
_BYTES_PER_HEADER_BYTE = 32  # decoded objects take more memory than the header


class ByteQuota:
    """A limited number of bytes. `left`: the bytes that are still available."""

    def __init__(self, size: int) -> None:
        self.left = size

    def take(self, size: int) -> bool:
        """Take this many bytes and return True, or return False if fewer are left."""
        if size > self.left:
            return False
        self.left -= size
        return True

    def give(self, size: int) -> None:
        self.left += size


def answer_bytes(header: int, body: int) -> int:
    """Estimate the memory of a decoded reply; header, body: the lengths of its parts in bytes."""
    return header * _BYTES_PER_HEADER_BYTE + body


if sys.platform == "linux":
    import resource

MOST_BYTES = 512 << 20  # enough to load libraries and to run all misconceptions of a week


@contextlib.contextmanager
def ceiling(size: int = MOST_BYTES) -> Iterator[None]:
    """Limit this process to `size` more bytes of data on Linux; do nothing on other systems."""
    if sys.platform != "linux":
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bound = psutil.Process().memory_info().data + size
    if soft == resource.RLIM_INFINITY or bound < soft:
        resource.setrlimit(resource.RLIMIT_DATA, (bound, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def machine_is_short(size: int = MOST_BYTES) -> bool:
    """Return True if memory is so short that an allocation may fail below our own limit."""
    available = psutil.virtual_memory().available
    bound = resource.getrlimit(resource.RLIMIT_AS)[0] if sys.platform == "linux" else -1
    left = bound - psutil.Process().memory_info().vms if bound >= 0 else available
    return bool(min(available, left) < size)


_PATIENCE = 4.0  # most waiting time to forgive, as a multiple of the submission's time limit
_SHARE_OF_WAITING = 0.25  # share of idle time that counts as used
_START_SECONDS = 0.05  # charged for starting a process, including the grader's work
# The usual processor time of a request and of each of its bytes, including the grader's work.
_REQUEST_SECONDS, _BYTE_SECONDS = 7e-4, 5e-8


class _LimitOf(IntEnum):
    CALL, EXERCISE, SUBMISSION = range(3)


class SubmissionClocks:
    """The time that a submission has spent, by exercise.

    starts:   the number of processes that the submission has started
    work:     an estimate of its processor time in seconds, from the number of requests and their
              size. Unlike a measured time, it is the same whenever a submission is graded
    forgiven: the seconds of waiting for a processor that do not count against the submission
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._spent: dict[str, float] = {}
        self._ran = self._queued = 0.0  # totals of earlier processes
        self._waited = 0.0  # wait of the current process at the last `forgive`
        self._child: Child | None = None
        self.starts = 0
        self.work = self.forgiven = 0.0

    def child_started(self, child: Child, *, free: bool = False) -> None:
        """Start counting a process. `free`: whether its processor time until now is free."""
        self._child, self._waited = child, 0.0
        self.starts += 1
        self.work += _START_SECONDS
        if free:
            self._ran -= child.ran_seconds()

    def child_ended(self, child: Child) -> None:
        self._ran += child.ran_seconds()
        self._queued += child.waited_seconds()
        self._child = None

    def count(self, request: bytes) -> None:
        """Add a request to the work."""
        self.work += _REQUEST_SECONDS + len(request) * _BYTE_SECONDS

    def spend(self, exercise: str, seconds: float) -> None:
        self._spent[exercise] = self._spent.get(exercise, 0.0) + seconds

    def forgive(self) -> float:
        """Return the seconds waited for a processor since the last `forgive`, within _PATIENCE."""
        if self._child is None:
            return 0.0
        waited = self._child.waited_seconds()
        patience = _PATIENCE * self._limits.submission_seconds - self.forgiven
        more = min(max(0.0, waited - self._waited), patience)
        self._waited = waited
        self.forgiven += more
        return more

    def seconds_remaining(self, exercise: str) -> float:
        """Return the seconds that a call may take; raise TimedOut if no time is left."""
        seconds, limit = self._time_remaining(exercise)
        if seconds < self._limits.call_seconds:
            spent = self._spent.get(exercise, 0.0)
            self._spent[exercise] = spent - min(spent, self.forgive())
            seconds, limit = self._time_remaining(exercise)
        if seconds <= 0:
            raise TimedOut(f"Not run: {self._used_up(limit)}.")
        return seconds

    def why_stopped(self, exercise: str, seconds: float) -> str:
        """Return the message for a call that was stopped after this many seconds."""
        _, limit = self._time_remaining(exercise)
        if limit is not _LimitOf.CALL:
            return f"The call was stopped: {self._used_up(limit)}."
        hint = "Is there a loop that never ends?"
        if self._child is not None and self._child.ran_seconds() < seconds / 2:
            hint = "It was idle for most of them: in `time.sleep`, or waiting for a lock?"
        return f"The call was stopped after {seconds:g} second{'s' * (seconds != 1)}. {hint}"

    def ran_seconds(self) -> float:
        """Return the processor seconds of all processes so far. A process that died counts as 0."""
        return self._ran + (self._child.ran_seconds() if self._child is not None else 0.0)

    def used_seconds(self) -> float:
        """Return the processor time or, if larger, a share of the idle time, plus start-up costs.

        Programs that sleep or die in every call show no processor time, but they delay the grader.
        """
        queued = self._queued + (self._child.waited_seconds() if self._child is not None else 0.0)
        idle = (sum(self._spent.values()) - queued) * _SHARE_OF_WAITING
        return max(self.ran_seconds(), idle) + self.starts * _START_SECONDS

    def _time_remaining(self, exercise: str) -> tuple[float, _LimitOf]:
        """Return the seconds left for a call, and the limit that the call would reach first."""
        limits = self._limits
        exercise_left = limits.exercise_seconds - self._spent.get(exercise, 0.0)
        left = limits.submission_seconds - sum(self._spent.values())
        return min(
            (limits.call_seconds, _LimitOf.CALL),
            (exercise_left, _LimitOf.EXERCISE),
            (left, _LimitOf.SUBMISSION),
        )

    def _used_up(self, limit: _LimitOf) -> str:
        if limit is _LimitOf.EXERCISE:
            seconds = self._limits.exercise_seconds
            return f"the calls of this exercise used up its {seconds:g} seconds"
        return f"its calls used up the submission's {self._limits.submission_seconds:g} seconds"


POLL_SECONDS = 0.05
_READ_SIZE = 1 << 14
_LATE_READING = 1.0  # seconds to read a reply that arrived before the deadline
_SHORTEST = 0.001  # seconds; 0 would mean no time-out


class Stream:
    """Reads and writes a socket until a deadline, and then raises TimeoutError.

    watch:     called repeatedly during a wait, to check the child's memory
    extension: called at the deadline; returns the seconds by which the deadline moves

    The kernel limits each wait (SO_RCVTIMEO, SO_SNDTIMEO), because Python's own time-out needs an
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
        """Postpone the deadline by time that does not count against the submission."""
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
        """Return exactly `size` bytes; keep any further bytes in `ahead` for the next call."""
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
        if wait != self._wait:  # skip the system call if the kernel already has this time-out
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
