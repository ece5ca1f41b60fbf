"""Where calls are answered: a submission in its sandbox, or project code in this process.

A target takes request frames and gives replies; graders never see one. `Sandboxed`
(`sandboxed.py`) speaks to student code. `InProcess` runs the solution and the bank of
misconceptions, which are ours. `RecordedTarget` remembers what an in-process target answered, so
that a class of hundreds asks the reference only once.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from ...worker.executor import Executor
from ...worker.protocol import frames
from .byte_quota import Room
from .module_cache import OwnCode

Answer = tuple[frames.Reply, list[memoryview]]
# Of the solution's answers, all that are kept together.
_MOST_RECORDED = 64 << 20


class Target(Protocol):
    """Answers request frames for one submission.

    attempts: what it did that honest work never does, once it is closed
    """

    @property
    def attempts(self) -> Sequence[str]: ...

    def begin(self, test: str, exercise: str) -> None:
        """A new test of an exercise starts; no object of the last one is alive."""

    def request(self, frame: bytes) -> Answer: ...

    def close(self) -> None: ...


class InProcess:
    """Project code (or a student's own, by their own hand) run in this process."""

    attempts: Sequence[str] = ()

    def __init__(self, path: Path) -> None:
        self.path = path
        self._executor: Executor | None = None
        self._stopped: frames.Raised | None = None

    def begin(self, test: str, exercise: str) -> None:
        pass

    def request(self, frame: bytes) -> Answer:
        return split_reply(self.answer(frame))

    def answer(self, frame: bytes) -> bytes:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            request, buffers = frames.unpack_request(*_split_frame(frame))
            assert not isinstance(request, frames.Ahead)
            return self.executor.answer(request, buffers)

    def load(self) -> frames.Raised | None:
        """Import the module; return the exception that stopped the import, if one did."""
        _ = self.executor  # importing the module is making it
        return self._stopped

    @property
    def executor(self) -> Executor:
        """What holds the module, which is imported once it is needed."""
        if self._executor is None:
            self._executor = Executor()
            self._executor.imports = OwnCode()
            self._stopped = self._executor.load_module(self.path, unique=True).raised
            self._loaded(self._executor.module)
        return self._executor

    def _loaded(self, module: Any) -> None:
        """The module was imported and nothing of it was called yet."""

    def close(self) -> None:
        self._executor = None


class RecordedTarget:
    """An in-process target whose answers are kept by test and history of calls.

    An answer depends on the calls before it in the same test (objects were made), so the key is a
    running hash of them. Calls answered from memory are made for real only when a later call of
    the same test is not in memory.

    answers: those known from before. grown: whether others came since it was last set to False.
    A test may pass a student's answer on to the solution, so what is kept has a bound.
    """

    attempts: Sequence[str] = ()

    def __init__(self, inner: InProcess, answers: dict[bytes, bytes]) -> None:
        self.inner, self.answers = inner, answers
        self.grown = False
        self._room = Room(_MOST_RECORDED - sum(map(len, answers.values())))
        self._history = b""
        self._pending: list[bytes] = []

    def begin(self, test: str, exercise: str) -> None:
        self._history = test.encode()
        self._pending = []
        self.inner.begin(test, exercise)

    def request(self, frame: bytes) -> Answer:
        key = hashlib.blake2b(self._history + frame, digest_size=20).digest()
        self._history = key
        self._pending.append(frame)
        answer = self.answers.get(key)
        if answer is None:
            for earlier in self._pending[:-1]:
                self.inner.answer(earlier)
            answer = self.inner.answer(frame)
            self._pending = []
            if self._room.take(len(answer)):
                self.answers[key] = answer
                self.grown = True
        return split_reply(answer)

    def close(self) -> None:
        self.inner.close()


def _split_frame(frame: bytes) -> tuple[bytes, memoryview]:
    header_length, body_length = frames.frame_lengths(frame[: frames.PREFIX.size])
    start = frames.PREFIX.size + header_length
    return frame[frames.PREFIX.size : start], memoryview(frame)[start : start + body_length]


def request_of(frame: bytes) -> tuple[frames.Request, list[memoryview]]:
    """What a frame of ours asks."""
    return frames.unpack_request(*_split_frame(frame))


def as_frame(request: frames.Request, buffers: Iterable[memoryview]) -> bytes:
    return frames.pack(request, [bytes(b) for b in buffers])


def frame_path(frame: bytes) -> str:
    """What a request calls in the module, or of an object; nothing if it calls none of these."""
    request, _ = request_of(frame)
    return request.path if isinstance(request, frames.Call) else ""


def split_reply(frame: bytes) -> Answer:
    """A reply frame that was made in this process."""
    return frames.unpack_reply(*_split_frame(frame))


__all__ = [
    "Answer",
    "InProcess",
    "RecordedTarget",
    "Target",
    "as_frame",
    "frame_path",
    "request_of",
    "split_reply",
]
