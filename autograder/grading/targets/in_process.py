"""Define the interface of targets, and targets that run trusted code in this process.

`InProcess` runs the solution and the misconceptions. `RecordedTarget` stores the replies of an
in-process target, so that the reference runs only once for hundreds of submissions. `Recording`
records the requests and answers of any target.
"""

import hashlib
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from ...model.availability import AXES, installed
from ...model.course import Week
from ...worker.executor import Executor
from ...worker.monitor.operator_hooks import install_hooks
from ...worker.protocol import frames
from ...worker.protocol.frames import Answer, request_of, split_reply
from ...worker.torch_support import fake_device
from ...worker.torch_support.builders import warm
from ..outcomes import Outcome
from .resource_limits import ByteQuota

Steps = list[tuple[bytes, Answer | Outcome]]  # requests, and their replies or outcomes
_MOST_RECORDED = 64 << 20  # bytes; limited because calls with a student's values rarely repeat


class Target(Protocol):
    """A program that replies to request frames."""

    def begin(self, test: str, exercise: str) -> None:
        """Begin a test of an exercise. Its first call deletes the objects of earlier tests."""

    def request(self, frame: bytes) -> Answer: ...

    def close(self) -> None: ...


class InProcess:
    """A module in this process: trusted code, or a student's code on the student's machine."""

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
        """Return the reply frame for a request frame."""
        with warnings.catch_warnings(action="ignore"):
            request, buffers = request_of(frame)
            assert not isinstance(request, frames.Ahead)
            return self.executor.answer(request, buffers)

    def load(self) -> frames.Raised | None:
        """Import the module; return the exception that stopped the import, or None on success."""
        _ = self.executor
        return self._stopped

    @property
    def executor(self) -> Executor:
        """The executor of the module. The first access imports the module."""
        if self._executor is None:
            self._executor = Executor()
            self._stopped = self._executor.load_module(self.path, unique=True).raised
            self._loaded(self._executor.module)
        return self._executor

    def _loaded(self, module: Any) -> None:
        """Prepare the imported module. Subclasses may override this method."""

    def close(self) -> None:
        self._executor = None


class RecordedTarget:
    """An in-process target whose replies are stored by test and history of calls.

    A reply depends on the earlier calls of the test, which may have created objects. The key of a
    reply is therefore a hash of all calls of the test up to this one. If a call has no stored
    reply, the inner target first makes the earlier calls that were answered from the store.
    """

    def __init__(self, inner: InProcess) -> None:
        self.inner = inner
        self._answers = dict[bytes, bytes]()
        self._quota = ByteQuota(_MOST_RECORDED)
        self._history = b""
        self._pending: list[bytes] = []

    def begin(self, test: str, exercise: str) -> None:
        self._history = test.encode()
        self._pending = []
        self.inner.begin(test, exercise)

    def request(self, frame: bytes) -> Answer:
        key = self._history = hashlib.blake2b(self._history + frame, digest_size=20).digest()
        answer = self._answers.get(key)
        if answer is not None:
            self._pending.append(frame)
            return split_reply(answer)
        for earlier in self._pending:
            self.inner.answer(earlier)
        self._pending = []
        answer = self.inner.answer(frame)
        if self._quota.take(len(answer)):
            self._answers[key] = answer
        return split_reply(answer)

    def close(self) -> None:
        self.inner.close()


class Recording:
    """Wraps a target and records its requests and answers by test."""

    def __init__(self, inner: Target) -> None:
        self._inner = inner
        self.steps: dict[str, Steps] = {}
        self._test = ""

    def begin(self, test: str, exercise: str) -> None:
        self._test = test
        self.steps.setdefault(test, [])  # a test can begin twice
        self._inner.begin(test, exercise)

    def request(self, frame: bytes) -> Answer:
        steps = self.steps[self._test]
        try:
            answer = self._inner.request(frame)
        except Outcome as outcome:
            steps.append((frame, outcome))
            raise
        steps.append((frame, answer))
        return answer

    def close(self) -> None:
        self._inner.close()


def prepare_process(week: Week, devices: tuple[str, ...]) -> None:
    """Install the hooks, register the fake GPU, and import the week's installed extras."""
    install_hooks(week.all_patterns)
    fake_device.device()  # must be registered before the first backward pass
    if any(AXES[d].claimed for d in devices):
        fake_device.warm()
    for extra in filter(installed, week.extras):
        warm(extra)
