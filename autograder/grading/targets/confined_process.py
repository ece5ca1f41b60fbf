"""Start processes for submissions by forking a warm template, and exchange frames with them.

Theory of operation. The submission controls the other end of the socket. A reply is valid only if
it repeats the stamp of its request, which is a random number. Before a reply, the process may send
notices (attempts, forbidden calls), which the submission cannot withdraw, and calls to replaced
helpers. Deadlines, sizes and memory are enforced on this side.

A spawner starts its first template immediately, and the template warms up while this process
imports torch for its engine. This module therefore does not import torch.
"""

import secrets
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import msgspec

from ...model.availability import FAKE_GPU, installed
from ...model.course import Course, Limits, Week
from ...sandbox import Child, ChildLimits, Sandbox, SandboxFault, Template
from ...worker.monitor.audit_hook import KNOWN, LOOKS
from ...worker.protocol import frames as wire
from ...worker.protocol.frames import Answer
from ..outcomes import BadReply, Crashed, LimitExceeded, Outcome
from .resource_limits import ByteQuota, Stream, SubmissionClocks, answer_bytes

_MOST_ATTEMPTS = 20
_EXIT_SECONDS = 2.0  # longest wait for the exit status of a process that closed its socket


class Spawner:
    """Starts processes for the submissions of a week. `gpu`: whether the processes may use CUDA."""

    def __init__(
        self,
        sandbox: Sandbox,
        course: Course,
        week: Week,
        devices: tuple[str, ...],
        limits: Limits | None = None,
    ) -> None:
        limits = limits or course.limits(week)
        solution = course.solution(week).read_text("utf-8")
        tests = course.graders(week).glob("*.py")
        config = wire.PrepareConfig(
            not_allowed=week.all_patterns,
            libraries=week.importable,
            fake_gpu=FAKE_GPU in devices,
            extras=tuple(filter(installed, week.extras)),
            # These imports are slow, so the template makes them only for weeks that need them.
            optimizers="torch.optim" in solution,
            drawing="matplotlib" in solution,
            counting=any("count." in t.read_text("utf-8") for t in tests),
            max_reply_bytes=limits.reply_mib << 20,
            gpu_bytes=limits.gpu_mib << 20 if "cuda" in devices else 0,
        )
        self.gpu = "cuda" in devices
        self._sandbox = sandbox
        self._config = msgspec.msgpack.encode(config)
        self._template: Template | None = self._start()

    def spawn(self, limits: ChildLimits) -> Child:
        """Return a confined process. If a warm template fails, retry once with a new template."""
        if self._template is None:
            self._template = self._start()
        try:
            return self._template.spawn(limits)
        except SandboxFault:
            was_warm = self._template.warm
            self.end()
            if not was_warm:
                raise
            self._template = self._start()
            return self._template.spawn(limits)

    def end(self) -> None:
        """End the template and all its children. The next `spawn` starts a new template."""
        if self._template is not None:
            self._template.close()
            self._template = None

    def _start(self) -> Template:
        return self._sandbox.start(self._config, cuda=self.gpu)


class Helpers(Protocol):
    """Correct versions of some of the submission's functions, which run in the grader's process."""

    @property
    def stubs(self) -> tuple[wire.Stub, ...]: ...

    def answer(self, call: wire.StubCall, buffers: list[memoryview]) -> bytes: ...

    def with_costs(self, answer: Answer) -> Answer: ...


class Attempts:
    """The forbidden actions that a submission tried. `names`: the first 20 different names."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def note(self, name: str) -> None:
        if len(self.names) < _MOST_ATTEMPTS and name not in self.names:
            self.names.append(name)

    def from_notices(self, reply: wire.Reply, notices: Sequence[wire.Notice]) -> wire.Reply:
        """Record the attempts in the notices; return the reply with the forbidden calls added."""
        banned = [wire.Banned(n.what, n.line) for n in notices if n.kind == "banned"]
        banned = [b for b in banned if b not in reply.banned]
        for notice in notices:
            if notice.kind == "attempt" or notice.what in LOOKS:
                self.note(notice.what if notice.what in KNOWN else "another thing")
        if banned:
            reply = msgspec.structs.replace(reply, banned=(*reply.banned, *banned))
        return reply


class ConfinedProcess:
    """A child process in the sandbox. `most_bytes`: the limit on the child's resident memory."""

    def __init__(
        self,
        child: Child,
        limits: Limits,
        clocks: SubmissionClocks,
        attempts: Attempts,
        helpers: Helpers | None,
        most_bytes: int,
    ) -> None:
        self.child, self._limits = child, limits
        self._attempts, self._helpers = attempts, helpers
        self._most_bytes = most_bytes
        self._inherited = child.anonymous_bytes()  # allocated by the template before the fork
        self.stream = Stream(child.sock, self._check_memory, clocks.forgive)

    def exchange(self, frame: bytes, seconds: float, quota: ByteQuota) -> Answer:
        """Send a frame and return the reply. Raise TimeoutError if no reply arrives in time."""
        stamp = secrets.token_bytes(wire.STAMP.size)
        self.stream.begin(time.monotonic(), seconds)
        with _outcomes(self):
            self.stream.send(stamp + frame)  # in one write, so that the process wakes up once
            return self._answer(stamp, quota, more=False)

    def send_ahead(self, frames: Sequence[bytes], seconds: float) -> list[bytes]:
        """Send several frames in one write and return their stamps."""
        size = wire.STAMP.size
        drawn = secrets.token_bytes(size * len(frames))  # in one system call
        stamps = [drawn[i : i + size] for i in range(0, len(drawn), size)]
        calls = b"".join(s + f for s, f in zip(stamps, frames, strict=True))
        announced = wire.pack(wire.Ahead(len(calls)), [])
        self.stream.begin(time.monotonic(), seconds)
        try:
            self.stream.send(secrets.token_bytes(size) + announced + calls)
        except (TimeoutError, ConnectionError):
            raise Crashed("Your code's process does not listen.") from None
        return stamps

    def receive_ahead(
        self, stamp: bytes, seconds: float, quota: ByteQuota, *, more: bool
    ) -> Answer:
        """Return the reply to a frame that was sent ahead. `more`: whether replies may follow."""
        self.stream.begin(time.monotonic(), seconds)
        with _outcomes(self):
            return self._answer(stamp, quota, more=more)

    def own_bytes(self) -> int:
        """Return the memory that the submission has allocated, including its import, in bytes."""
        return max(0, self.child.anonymous_bytes() - self._inherited)

    def freed_bytes(self) -> int:
        """Return the peak memory minus the current memory, in bytes."""
        return self.child.peak_bytes() - self.child.resident_bytes()

    def close(self) -> None:
        try:
            self.child.kill()
            for call in self.child.tried():
                self._attempts.note(call)
        finally:
            self.child.close()

    def death(self) -> Outcome:
        """Return the outcome for a process that closed its socket, based on its exit status."""
        status = self.child.exit_status(_EXIT_SECONDS)
        if status is None or status >= 0:
            return Crashed("Your code ended its own process (exit). Return a value instead.")
        name = signal.Signals(-status).name if -status in set(signal.Signals) else str(-status)
        if name == "SIGKILL":  # sent by the kernel: the grader kills only after this wait
            return LimitExceeded(
                "Your code was stopped for using more processor time, memory or disk than a "
                "submission may."
            )
        return Crashed(f"Your code's process was ended by {name}.")

    def _answer(self, stamp: bytes, quota: ByteQuota, *, more: bool) -> Answer:
        notices: list[wire.Notice] = []
        while True:
            header, body = self._receive(stamp, quota)
            answer = wire.unpack_answer(header, body)
            if isinstance(answer, wire.StubCall):
                self._answer_question(stamp, answer, body)
                quota.give(answer_bytes(len(header), len(body)))
            elif isinstance(answer, wire.Notice):
                notices.append(answer)
                if len(notices) > wire.MAX_NOTICES:
                    raise wire.BadFrame("too many notices")
            else:
                break
        if self.stream.ahead and not more:
            raise wire.BadFrame("more than the reply")
        reply = self._attempts.from_notices(answer, notices)
        result = reply, wire.buffers_of(answer, body)
        return result if self._helpers is None else self._helpers.with_costs(result)

    def _receive(self, stamp: bytes, quota: ByteQuota) -> tuple[bytes, memoryview]:
        """Return the next frame's header and body; raise BadFrame or, over quota, LimitExceeded."""
        start = bytes(self.stream.receive(wire.STAMP.size + wire.PREFIX.size))
        if not start.startswith(stamp):
            self._attempts.note("a reply of its own making")
            raise wire.BadFrame("a reply to a different request, or to none")
        prefix, bound = start[wire.STAMP.size :], self._limits.reply_mib << 20
        header_length, body_length = wire.frame_lengths(prefix, bound, wire.MAX_REPLY_HEADER)
        if not quota.take(answer_bytes(header_length, body_length)):
            raise LimitExceeded("The results of this test are far larger than they can be.")
        frame = self.stream.receive(header_length + body_length)
        return bytes(frame[:header_length]), frame[header_length:]

    def _answer_question(self, stamp: bytes, question: wire.StubCall, body: memoryview) -> None:
        """Answer a call to a replaced helper, and postpone the deadline by the time taken."""
        if self._helpers is None or self.stream.ahead:
            raise wire.BadFrame("a question without helpers")
        started = time.monotonic()
        answer = self._helpers.answer(question, wire.buffers_of(question, body))
        self.stream.extend(time.monotonic() - started)
        self.stream.send(stamp + answer)

    def _check_memory(self) -> None:
        if self.child.resident_bytes() > self._most_bytes:
            raise LimitExceeded(
                f"Your code used more than {self._limits.memory_mib} MiB of memory."
            )


@contextmanager
def _outcomes(process: ConfinedProcess) -> Iterator[None]:
    """Turn the exceptions for a malformed reply or a closed socket into an Outcome."""
    try:
        yield
    except wire.BadFrame:
        raise BadReply("Your code's process sent an invalid reply.") from None
    except (EOFError, ConnectionError):
        raise process.death() from None
