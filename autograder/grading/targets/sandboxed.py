"""A target that runs a submission in a sandbox.

If a submission hangs, ends or replies invalidly, the call raises an Outcome and the next call
starts a new process. After `MAX_DEATHS` time-outs, exceeded limits or invalid replies in one
exercise, its remaining calls fail at once with the last of these verdicts; other exercises are
not affected. If the time of an exercise or of the submission is used up, calls time out at once.

Expected calls (`expect`) are sent in one write, and the submission answers them while the grader
processes earlier replies. After an unexpected event (a different call, a dead or silent process),
the test's earlier calls are repeated in a new process, and its other calls are sent one at a time.

`Reloaded` runs one version of a submission after another in the same process.
"""

import mmap
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ...model.course import Limits
from ...sandbox import Child, ChildLimits
from ...worker.protocol import frames as wire
from ...worker.protocol.frames import Answer
from ..outcomes import Crashed, LimitExceeded, Outcome, TimedOut
from .confined_process import Attempts, ConfinedProcess, Helpers
from .in_process import Target
from .resource_limits import ByteQuota, SubmissionClocks

MAX_DEATHS = 2
_NOT_RUN = "Not run: two calls of this exercise were stopped before this one."
_TEMPLATE_BYTES = 1 << 29  # libraries shared with the template, resident in every process
_GPU_BYTES = 2 << 30  # the GPU driver and libraries in a process that uses a GPU
# Largest error of the kernel's memory counters. Since Linux 6.2, each core batches its updates, and
# the number of pages in a batch grows with the number of cores.
_INEXACT_BYTES = max(1 << 20, 8 * (os.cpu_count() or 1) * mmap.PAGESIZE)
_NOT_MEASURED = "The memory that your code uses cannot be measured."
# The process itself interrupts a slow import, so the grader waits for this multiple of the limit.
_IMPORT_PATIENCE = 1.25
_SILENT_SECONDS = 2.0  # longest wait for the answer to a call that was sent ahead


class MemoryLevel(NamedTuple):
    """The memory of a process before a call, in bytes.

    resident: the resident memory of the process
    held:     the memory that the submission allocated, including its import; None if the submission
              imported libraries, because their memory does not count
    """

    resident: int
    held: int | None


class NextCall(NamedTuple):
    """A call that a test is expected to make."""

    test: str
    frame: bytes


class Sandboxed:
    """A submission in a confined process.

    attempts:      forbidden actions that the submission tried
    clocks:        the time that the submission has used, and the number of its processes
    deaths:        time-outs, exceeded limits and invalid replies, by exercise
    sent:          calls that were sent ahead and whose replies are unread, with their stamps
    listens_ahead: whether expected calls may be sent ahead
    """

    def __init__(
        self,
        spawn: Callable[[ChildLimits], Child],
        module: str,
        files: Mapping[str, bytes],
        limits: Limits,
        gpu: bool = False,
        helpers: Helpers | None = None,
    ) -> None:
        self.listens_ahead = False
        self._spawn, self._module, self._limits = spawn, module, limits
        self._gpu, self._helpers = gpu, helpers
        self._load = self._load_frame(files)
        self._import_seconds = _IMPORT_PATIENCE * limits.call_seconds
        self._process: ConfinedProcess | None = None
        self._import_outcome: Outcome | None = None
        self.clocks = SubmissionClocks(limits)
        self._attempts = Attempts()
        self.attempts = self._attempts.names
        self.deaths: dict[str, list[Outcome]] = {}
        self.begin("", "")
        # Calls that are sent ahead:
        self._expected: Sequence[NextCall] = ()
        self.sent: deque[tuple[NextCall, bytes]] = deque()
        self._one_by_one: set[str] = set()  # exercises that no longer send ahead

    def load(self) -> wire.Raised | None:
        """Import the module; return the exception that stopped the import, or None on success.

        Raise an Outcome if the process times out, exceeds a limit, ends or sends an invalid reply.
        """
        self._start_process()
        reply, _ = self._exchange(self._load, self._import_seconds)
        return reply.raised

    def begin(self, test: str, exercise: str) -> None:
        self._exercise, self._test = exercise, test
        self._asked: list[bytes] = []
        self._quota = ByteQuota(self._limits.reply_mib << 20)

    def request(self, frame: bytes) -> Answer:
        deaths = self.deaths.setdefault(self._exercise, [])
        if len(deaths) >= MAX_DEATHS:
            raise type(deaths[-1])(_NOT_RUN)
        if self._import_outcome is not None:
            raise type(self._import_outcome)(self._import_outcome.message)
        self.clocks.seconds_remaining(self._exercise)  # a lack of time does not count as a death
        try:
            answer = self._ahead_answer(frame)
            if answer is None:
                answer = self._exchange(frame, self.clocks.seconds_remaining(self._exercise))
            self._asked.append(frame)
            return answer
        except Outcome as outcome:
            if outcome.verdict.exceeds_a_bound:  # otherwise the next call may run
                deaths.append(outcome)
            self.close()
            raise

    # Calls that are sent ahead

    def expects(self, exercise: str) -> bool:
        """Return True if calls are already expected, or if the exercise cannot send ahead."""
        return bool(self.sent or self._expected) or exercise in self._one_by_one

    def expect(self, calls: Sequence[NextCall]) -> None:
        """Set the calls to send ahead. A test may end before it makes all of these calls."""
        self._expected = calls

    def _ahead_answer(self, frame: bytes) -> Answer | None:
        """Return the reply to a call that was sent ahead, or None if the call was not sent."""
        process, call = self._running(), NextCall(self._test, frame)
        expected, self._expected = self._expected, ()
        try:
            if expected and not self.sent and expected[0] == call:
                seconds = self.clocks.seconds_remaining(self._exercise)
                stamps = process.send_ahead([c.frame for c in expected], seconds)
                self.sent.extend(zip(expected, stamps, strict=True))
            while self.sent and not self._asked and self.sent[0][0].test != self._test:
                self._next_ahead()  # skip replies for a test that ended early
            if not self.sent:
                return None
            if self.sent[0][0] == call:
                return self._next_ahead()
        except Outcome:
            self._one_by_one.add(self._exercise)
        self.close()
        self._running()
        for earlier in self._asked:
            self._exchange(earlier, self.clocks.seconds_remaining(self._exercise))
        return None

    def _next_ahead(self) -> Answer:
        _, stamp = self.sent.popleft()
        seconds = min(self.clocks.seconds_remaining(self._exercise), _SILENT_SECONDS)
        with self._timed(seconds) as process:
            return process.receive_ahead(stamp, seconds, self._quota, more=bool(self.sent))

    # Memory

    def level_memory(self) -> MemoryLevel:
        """Make the process allocate memory up to its previous peak, and return the memory level.

        The kernel records only the peak, so memory that a call allocates below an earlier peak
        would not be measured. Raise LimitExceeded if the peak cannot be reached.
        """
        process = self._running()
        has_libraries = self._fill(0)
        own = process.own_bytes()
        freed = process.freed_bytes()
        if freed > _INEXACT_BYTES:
            self._fill(freed)
            if process.freed_bytes() > _INEXACT_BYTES:
                raise LimitExceeded(_NOT_MEASURED)
        return MemoryLevel(process.child.resident_bytes(), None if has_libraries else own)

    def _fill(self, size: int) -> bool:
        """Make the process allocate `size` bytes; return True if libraries were imported."""
        reply, _ = self.request(wire.pack(wire.Fill(size), []))
        if reply.status != "ok":
            raise LimitExceeded(_NOT_MEASURED)
        return reply.value is not False

    def peak_bytes(self) -> int:
        """Return the kernel's count of the peak memory in bytes, or 0 if no process runs."""
        return self._process.child.peak_bytes() if self._process is not None else 0

    # Processes

    def swap(self, files: Mapping[str, bytes]) -> None:
        """Replace the submission's files, and import them now if the process still runs.

        Reset the count of deaths. If the import fails, calls fail.
        """
        self.deaths.clear()
        self._import_outcome = None
        self._load = self._load_frame(files)
        if self._process is not None:
            try:
                self._exchange(self._load, self._limits.call_seconds)
            except Outcome as outcome:
                self._import_outcome = outcome
                self.close()

    def _load_frame(self, files: Mapping[str, bytes]) -> bytes:
        stubs = self._helpers.stubs if self._helpers is not None else ()
        numbers, seconds = tuple(range(len(files))), self._limits.call_seconds
        load = wire.Load(self._module, tuple(files), numbers, stubs, seconds)
        return wire.pack(load, list(files.values()))

    def _running(self) -> ConfinedProcess:
        """Return the process; if none is running, start one and redo the import done by `load`."""
        if self._process is None:
            self._start_process()
            try:
                reply, _ = self._exchange(self._load, self._import_seconds)
                if reply.status != "ok":
                    raise Crashed("the import stopped with an error.")
            except Outcome as outcome:
                self._import_outcome = type(outcome)(
                    f"{self._module} could be imported at first, but not when its process had to "
                    f"be started again: {outcome.message}"
                )
                self.close()
                raise self._import_outcome from None
        assert self._process is not None
        return self._process

    def _start_process(self) -> None:
        limits = self._limits
        memory = limits.memory_mib << 20
        child = self._spawn(
            ChildLimits(
                memory_bytes=memory,
                processes=limits.processes,
                disk_bytes=limits.disk_mib << 20,
                open_files=limits.open_files,
                cpu_seconds=limits.cpu_seconds,
            )
        )
        self.clocks.child_started(child, free=self._gpu)  # starting a GPU is free
        resident = memory + (1 + limits.processes) * _TEMPLATE_BYTES + self._gpu * _GPU_BYTES
        self._process = ConfinedProcess(
            child, limits, self.clocks, self._attempts, self._helpers, resident
        )

    def _exchange(self, frame: bytes, seconds: float) -> Answer:
        self.clocks.count(frame)
        with self._timed(seconds) as process:
            return process.exchange(frame, seconds, self._quota)

    @contextmanager
    def _timed(self, seconds: float) -> Iterator[ConfinedProcess]:
        """Charge the duration of the block to the exercise, and turn TimeoutError into TimedOut."""
        process, started = self._process, time.monotonic()
        assert process is not None
        try:
            yield process
        except TimeoutError:
            self.clocks.work += self._limits.call_seconds
            raise TimedOut(self.clocks.why_stopped(self._exercise, seconds)) from None
        finally:
            spent = time.monotonic() - started - process.stream.extended
            self.clocks.spend(self._exercise, spent)

    def close(self) -> None:
        self.sent.clear()
        if self._process is not None:
            process, self._process = self._process, None
            self.clocks.child_ended(process.child)
            process.close()


class Reloaded:
    """The version of a submission that was loaded last.

    start: starts a target with the files of a version; in a sandbox, later versions reuse it
    """

    def __init__(self, start: Callable[[Mapping[str, bytes]], Target]) -> None:
        self._start = start
        self._target: Target | None = None
        self._began = time.thread_time()

    def load(self, files: Mapping[str, bytes]) -> Target:
        """Load a version that remembers no earlier call. If its import fails, calls fail."""
        if isinstance(self._target, Sandboxed):
            self._target.swap(files)  # in the same process, which is much faster
            return self._target
        self.close()
        self._target = self._start(files)
        return self._target

    def exclude(self, seconds: float) -> None:
        """Do not charge these seconds, which were spent on results that all submissions share."""
        self._began += seconds

    def seconds(self) -> float:
        """Return the processor time spent so far, in this process and in the sandbox."""
        inside = self._target.clocks.used_seconds() if isinstance(self._target, Sandboxed) else 0.0
        return time.thread_time() - self._began + inside

    def work(self) -> float:
        """Return the work of the sandbox; in this process, where none is counted, the time."""
        return self._target.clocks.work if isinstance(self._target, Sandboxed) else self.seconds()

    def close(self) -> None:
        if self._target is not None:
            self._target.close()
