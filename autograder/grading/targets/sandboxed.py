"""A submission in its sandbox, as what answers the hidden tests' calls.

It may hang, die or lie, and each of that is an Outcome.
"""

from __future__ import annotations

import mmap
import os
import secrets
import signal
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec

from ...model.course.loader import Limits
from ...sandbox import Child, ChildLimits
from ...worker.monitor.audit_hook import KNOWN, LOOKS
from ...worker.protocol import frames as wire
from ..outcomes import BadReply, Crashed, LimitExceeded, Outcome, TimedOut
from .byte_quota import Room, held
from .in_process import Answer
from .socket_stream import Stream

MAX_DEATHS = 2
_NOT_RUN = "Not run: two calls of this exercise were stopped before this one."
# Resident in every process from the start: libraries that all share with the template.
_TEMPLATE_BYTES = 1 << 29
# What a GPU's driver and libraries keep in the memory of a process that uses it.
_GPU_BYTES = 2 << 30
# Within this, the kernel's figures for a process may differ.
# Each core may hold back so many pages of them, and the more the more there are (since Linux 6.2).
_ROUGHLY = max(1 << 20, 8 * (os.cpu_count() or 1) * mmap.PAGESIZE)
# However busy the machine: so many times the submission's limit is waited for it besides.
_PATIENCE = 4.0
_MOST_ATTEMPTS = 20
# An import is interrupted in its own process, or else ended after so many times the limit.
_LATER = 1.25
# What counts as used of the time in which a call waits; and what a start takes, on our side too.
_OF_THE_CLOCK = 0.25
_START_SECONDS = 0.05
# No answer for so long to a call that was sent ahead: then one call is made at a time.
_SILENT_SECONDS = 2.0


class MemoryLevel(NamedTuple):
    """Of a process before a call, in bytes: all that is resident, and what the submission wrote and
    keeps, its import included; None if libraries came with it, whose memory is not its own."""

    resident: int
    held: int | None


class NextCall(NamedTuple):
    """A call that a test makes next, as far as is known."""

    test: str
    frame: bytes


class _Budget(NamedTuple):
    """Seconds for a call; `used_up` says what ends it if that is not the limit of a call."""

    seconds: float
    used_up: str


class _Sent(NamedTuple):
    test: str
    frame: bytes
    stamp: bytes


class Helpers(Protocol):
    """Answers the calls of exercises that correct ones replace."""

    @property
    def stubs(self) -> tuple[wire.Stub, ...]: ...

    def answer(self, call: wire.StubCall, buffers: list[memoryview]) -> bytes: ...

    def with_costs(self, answer: Answer) -> Answer: ...


class Sandboxed:
    """A submission in its own confined process, started again when it died.

    Clocks and bounds are kept here, on the trusted side. The submission owns the other end of the
    socket, so a reply counts only with the stamp of the request that is being answered. After
    `MAX_DEATHS` time-outs or broken limits in one exercise, or when the exercise's or the
    submission's time is used up, its remaining calls end at once with the same verdict; the other
    exercises are not touched by it. While its process waits for a processor that others have, the
    clocks stand still: a busy machine is not its fault.

    What will be asked may be told before (`expect`, if it listens ahead): it is sent in one piece
    and answered while answers are looked at here. Whatever goes otherwise then (another call, a
    death, a silence) decides nothing: the test is begun again in a new process, call by call.
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
        self._helpers = helpers
        self._spawn = spawn
        self._module = module
        self._limits = limits
        tasks = 1 + limits.processes
        self._gpu = gpu
        self._most_bytes = (limits.memory_mib << 20) + tasks * _TEMPLATE_BYTES + gpu * _GPU_BYTES
        self._load = self._loading(files)
        self._child: Child | None = None
        self._stream: Stream | None = None  # of the child
        self._exercise = ""
        self.attempts: list[str] = []  # what honest work never does
        self._room = Room(limits.reply_mib << 20)
        self._deaths: dict[str, list[Outcome]] = {}
        self._spent: dict[str, float] = {}
        self._import_outcome: Outcome | None = None
        self._ran = self._queued = 0.0  # by the children before this one
        self._starts = 0
        self._inherited = 0  # by this child, of the template's memory
        self._waited = 0.0  # of this child, what was taken off its time
        self._test = ""
        self._asked: list[bytes] = []  # in this test
        self._expected: Sequence[NextCall] = ()
        self._sent: deque[_Sent] = deque()  # what this child was sent ahead, and not yet taken
        self._one_by_one: set[str] = set()  # exercises in which something went wrong
        self._patience = _PATIENCE * limits.submission_seconds

    def load(self) -> wire.Raised | None:
        """Import the module; return the exception that stopped the import, if one did.

        Raises an Outcome if the process hung, died or lied.
        """
        self._spawn_child()
        reply, _ = self._exchange(self._load, self._import_seconds)
        return reply.raised

    def begin(self, test: str, exercise: str) -> None:
        self._exercise, self._test = exercise, test
        self._asked = []
        self._room = Room(self._limits.reply_mib << 20)

    def expects(self, exercise: str) -> bool:
        """Whether something is known of what will be asked, or nothing is to be told of it."""
        return bool(self._sent or self._expected) or exercise in self._one_by_one

    def expect(self, calls: Sequence[NextCall]) -> None:
        """These calls will be made next, unless tests end earlier."""
        self._expected = calls

    def request(self, frame: bytes) -> Answer:
        deaths = self._deaths.setdefault(self._exercise, [])
        if len(deaths) >= MAX_DEATHS:
            raise type(deaths[-1])(_NOT_RUN)
        if self._import_outcome is not None:
            raise _again(self._import_outcome)
        self._seconds_left()  # none left is no death of this call's
        try:
            if self._child is None:
                self._start()
            answer = self._answer_ahead(frame)
            if answer is None:
                answer = self._exchange(frame, self._seconds_left())
            self._asked.append(frame)
            return answer
        except (TimedOut, LimitExceeded, BadReply, Crashed) as outcome:
            if not isinstance(outcome, Crashed):  # a crash is cheap: try the next call afresh
                deaths.append(outcome)
            self._end_child()
            raise

    def _answer_ahead(self, frame: bytes) -> Answer | None:
        """The answer to a call that was sent ahead; None if it is to be made now."""
        expected, self._expected = self._expected, ()
        try:
            if expected and not self._sent and expected[0] == (self._test, frame):
                self._send_ahead(expected)
            while self._sent and not self._asked and self._sent[0].test != self._test:
                self._take()  # of a test that ended before it asked this
            if not self._sent:
                return None
            if (self._sent[0].test, self._sent[0].frame) == (self._test, frame):
                return self._take()
        except (TimedOut, LimitExceeded, BadReply, Crashed):
            self._one_by_one.add(self._exercise)
        self._end_child()
        self._start()
        for earlier in self._asked:
            self._exchange(earlier, self._seconds_left())
        return None

    def _send_ahead(self, calls: Sequence[NextCall]) -> None:
        size = wire.STAMP.size
        drawn = secrets.token_bytes(size * len(calls))  # the kernel is asked once
        stamps = [drawn[i : i + size] for i in range(0, len(drawn), size)]
        frames = b"".join(s + c.frame for s, c in zip(stamps, calls, strict=True))
        announced = wire.pack(wire.Ahead(len(frames)), [])
        assert self._stream is not None
        self._stream.begin(time.monotonic(), self._seconds_left())
        try:
            self._stream.send(secrets.token_bytes(size) + announced + frames)
        except (TimeoutError, ConnectionError):
            raise Crashed("Your code's process does not listen.") from None
        self._sent.extend(_Sent(c.test, c.frame, s) for c, s in zip(calls, stamps, strict=True))

    def _take(self) -> Answer:
        """The answer to the first of the calls that were sent ahead."""
        sent = self._sent.popleft()
        seconds = min(self._seconds_left(), _SILENT_SECONDS)
        return self._answered(sent.stamp, b"", seconds, more=bool(self._sent))

    def level_memory(self) -> MemoryLevel:
        """What it holds, after what was freed before stands filled again up to the peak.

        The kernel counts the highest mark that memory ever reached. What is made below it would go
        unseen; so the process is asked to fill up, and whether it did is looked at from outside.
        """
        if self._child is None:
            self._start()
        assert self._child is not None
        libraries = self._fill(0)
        own = self._child.anonymous_bytes() - self._inherited
        missing = self._child.peak_bytes() - self._child.resident_bytes()
        if missing > _ROUGHLY:
            self._fill(missing)
            if self._child.peak_bytes() - self._child.resident_bytes() > _ROUGHLY:
                raise LimitExceeded("The memory that your code uses cannot be measured.")
        return MemoryLevel(self._child.resident_bytes(), None if libraries else max(0, own))

    def _fill(self, size: int) -> bool:
        """Whether libraries were imported since the submission's file was."""
        frame = wire.pack(wire.Fill(size), [])
        reply, _ = self.request(frame)
        if reply.status != "ok":
            raise LimitExceeded("The memory that your code uses cannot be measured.")
        return reply.value is not False

    def swap(self, files: Mapping[str, bytes]) -> str:
        """Another version of the submission, in the same process where that still runs.

        Nothing is held against it that others did. The name of the error that ended its import, if
        it is imported at once.
        """
        self._deaths.clear()
        self._import_outcome = None
        self._load = self._loading(files)
        if self._child is not None:
            try:
                reply, _ = self._exchange(self._load, self._limits.call_seconds)
                return reply.raised.type if reply.raised is not None else ""
            except (TimedOut, Crashed, LimitExceeded, BadReply) as outcome:
                self._import_outcome = outcome
                self._end_child()
        return ""

    def _loading(self, files: Mapping[str, bytes]) -> bytes:
        lent = self._helpers.stubs if self._helpers is not None else ()
        numbers, seconds = tuple(range(len(files))), self._limits.call_seconds
        load = wire.Load(self._module, tuple(files), numbers, lent, seconds)
        return wire.pack(load, list(files.values()))

    def ran_seconds(self) -> float:
        """Processor time of all its processes so far."""
        return self._ran + (self._child.ran_seconds() if self._child is not None else 0.0)

    def used_seconds(self) -> float:
        """Processor time of all its processes, or a part of the clock's where it waits for nothing.

        A program that sleeps or dies in every call takes no processor time, but ours.
        """
        queued = self._queued + (self._child.waited_seconds() if self._child is not None else 0.0)
        idle = (sum(self._spent.values()) - queued) * _OF_THE_CLOCK
        return max(self.ran_seconds(), idle) + self._starts * _START_SECONDS

    def peak_bytes(self) -> int:
        """The most memory that the process ever had, counted by the kernel, not by its own word."""
        return self._child.peak_bytes() if self._child is not None else 0

    def _seconds_left(self) -> float:
        """The seconds that a call has; raises TimedOut if earlier ones left none."""
        budget = self._budget()
        if budget.seconds < self._limits.call_seconds:
            spent = self._spent.get(self._exercise, 0.0)
            self._spent[self._exercise] = spent - min(spent, self._wait_unfairly())
            budget = self._budget()
        if budget.seconds <= 0:
            raise TimedOut(f"Not run: {budget.used_up}.")
        return budget.seconds

    def _budget(self) -> _Budget:
        """The scarcest of what is left for a call, its exercise and the submission."""
        limits = self._limits
        own = limits.exercise_seconds - self._spent.get(self._exercise, 0.0)
        total = limits.submission_seconds - sum(self._spent.values())
        if limits.call_seconds <= min(own, total):
            return _Budget(limits.call_seconds, "")
        if own <= total:
            used_up = f"the calls of this exercise used up its {limits.exercise_seconds:g} seconds"
            return _Budget(own, used_up)
        return _Budget(
            total, f"its calls used up the submission's {limits.submission_seconds:g} seconds"
        )

    def _wait_unfairly(self) -> float:
        """Seconds that the process stood ready and others ran, since this was last asked."""
        if self._child is None:
            return 0.0
        waited = self._child.waited_seconds()
        more = min(max(0.0, waited - self._waited), self._patience)
        self._waited = waited
        self._patience -= more
        return more

    def _start(self) -> None:
        """Start a process and import the module in it, which `load` did before without an error."""
        self._spawn_child()
        try:
            reply, _ = self._exchange(self._load, self._import_seconds)
            if reply.status != "ok":
                raise Crashed("the import stopped with an error.")
        except (TimedOut, Crashed, LimitExceeded, BadReply) as outcome:
            self._import_outcome = type(outcome)(
                f"{self._module} could be imported at first, but not when its process had to be "
                f"started again: {outcome.message}"
            )
            self._end_child()
            raise self._import_outcome from None

    @property
    def _import_seconds(self) -> float:
        """How long to wait for an import, which its own process interrupts a little earlier."""
        return _LATER * self._limits.call_seconds

    def _spawn_child(self) -> None:
        self._waited = 0.0
        self._starts += 1
        self._child = self._spawn(
            ChildLimits(
                memory_bytes=self._limits.memory_mib << 20,
                processes=self._limits.processes,
                disk_bytes=self._limits.disk_mib << 20,
                open_files=self._limits.open_files,
                cpu_seconds=self._limits.cpu_seconds,
            )
        )
        if self._gpu:  # to start the device is no work of the submission's
            self._ran -= self._child.ran_seconds()
        self._inherited = self._child.anonymous_bytes()
        self._stream = Stream(self._child.sock, self._watch_memory, self._wait_unfairly)

    def _exchange(self, frame: bytes, seconds: float) -> Answer:
        """Send a frame and wait for the reply. Only this time is the student's, no start-up."""
        stamp = secrets.token_bytes(wire.STAMP.size)
        return self._answered(stamp, stamp + frame, seconds)

    def _answered(self, stamp: bytes, data: bytes, seconds: float, more: bool = False) -> Answer:
        """Send this and wait for the reply to the stamp; `more`: others may come after it."""
        stream, started = self._stream, time.monotonic()
        assert stream is not None
        stream.begin(started, seconds)
        try:
            if data:
                stream.send(data)  # in one piece, so that the other end wakes up once
            noticed: list[wire.Notice] = []
            while True:
                header, body = self._receive(stream, stamp)
                answer = wire.unpack_answer(header, body)
                if isinstance(answer, wire.StubCall):
                    self._help(stream, stamp, answer, body)
                    self._room.give(held(len(header), len(body)))
                    continue
                if not isinstance(answer, wire.Notice):
                    break
                noticed.append(answer)
                if len(noticed) > wire.MAX_NOTICES:
                    raise wire.BadFrame("more notices than there may be")
            if stream.ahead and not more:
                raise wire.BadFrame("more than the reply")
            reply = self._with_notices(answer, wire.buffers_of(answer, body), noticed)
            return reply if self._helpers is None else self._helpers.with_costs(reply)
        except TimeoutError:
            raise TimedOut(self._why_stopped(seconds)) from None
        except wire.BadFrame:
            raise BadReply("What came back from your code's process is no valid reply.") from None
        except (EOFError, ConnectionError):
            raise self._death() from None
        finally:
            spent = time.monotonic() - started - stream.extended
            self._spent[self._exercise] = self._spent.get(self._exercise, 0.0) + spent

    def _why_stopped(self, seconds: float) -> str:
        """Say which limit a call has reached that had so many seconds."""
        budget = self._budget()
        if budget.used_up:
            return f"The call was stopped: {budget.used_up}."
        why = "Is there a loop that never ends?"
        if self._child is not None and self._child.ran_seconds() < seconds / 2:
            why = "It waited for most of them: for `time.sleep`, or a lock?"
        return f"The call was stopped after {seconds:g} seconds. {why}"

    def _help(
        self, stream: Stream, stamp: bytes, question: wire.StubCall, body: memoryview
    ) -> None:
        """Answer a question to a lent exercise; the time that it takes is ours."""
        if self._helpers is None or stream.ahead:
            raise wire.BadFrame("a question to nobody")
        started = time.monotonic()
        answer = self._helpers.answer(question, wire.buffers_of(question, body))
        stream.put_off(time.monotonic() - started)
        stream.send(stamp + answer)

    def _receive(self, stream: Stream, stamp: bytes) -> tuple[bytes, memoryview]:
        """Header and body of one frame under the stamp."""
        start = bytes(stream.receive(wire.STAMP.size + wire.PREFIX.size))
        if not start.startswith(stamp):
            self._tried("a reply of its own making")
            raise wire.BadFrame("a reply to another request, or to none")
        prefix, bound = start[wire.STAMP.size :], self._limits.reply_mib << 20
        header_length, body_length = wire.frame_lengths(prefix, bound, wire.MAX_REPLY_HEADER)
        if not self._room.take(held(header_length, body_length)):
            raise LimitExceeded("The results of this test are far larger than they can be.")
        frame = stream.receive(header_length + body_length)
        return bytes(frame[:header_length]), frame[header_length:]

    def _with_notices(
        self, reply: wire.Reply, buffers: list[memoryview], noticed: list[wire.Notice]
    ) -> Answer:
        """The reply, with what was told before it and could be left out of it later."""
        banned = [wire.Banned(n.what, n.line) for n in noticed if n.kind == "banned"]
        banned = [b for b in banned if b not in reply.banned]
        for notice in noticed:
            if notice.kind == "attempt" or notice.what in LOOKS:
                self._tried(notice.what if notice.what in KNOWN else "another thing")
        if banned:
            reply = msgspec.structs.replace(reply, banned=(*reply.banned, *banned))
        return reply, buffers

    def _tried(self, what: str) -> None:
        if len(self.attempts) < _MOST_ATTEMPTS and what not in self.attempts:
            self.attempts.append(what)

    def _watch_memory(self) -> None:
        assert self._child is not None
        if self._child.resident_bytes() > self._most_bytes:
            raise LimitExceeded(
                f"Your code used more than {self._limits.memory_mib} MiB of memory."
            )

    def _death(self) -> Outcome:
        assert self._child is not None
        status = self._child.exit_status(2.0)
        if status is not None and status < 0:
            name = signal.Signals(-status).name if -status in set(signal.Signals) else str(-status)
            if name == "SIGKILL":  # ours would not be waited for here: it is the kernel's
                return LimitExceeded(
                    "Your code was stopped for using more processor time, memory or disk than a "
                    "submission may."
                )
            return Crashed(f"Your code's process was ended by {name}.")
        return Crashed("Your code ended its own process (exit). Return a value instead.")

    def _end_child(self) -> None:
        self._sent.clear()
        if self._child is not None:
            child, self._child = self._child, None
            self._ran += child.ran_seconds()
            self._queued += child.waited_seconds()
            try:
                child.kill()
                for call in child.tried():
                    self._tried(call)
            finally:
                child.close()

    def close(self) -> None:
        self._end_child()


def _again(outcome: Outcome) -> Outcome:
    return type(outcome)(outcome.message)


__all__ = ["NextCall", "Sandboxed"]
