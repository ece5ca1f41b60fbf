"""Answers of the course's own code on disk, shared by all grading processes.

The solution and the misconceptions run through the hidden tests once for each version of the
programs, the tests and the kit, and not once per process of a pool. The cache stores the solution's
answers, and for each misconception its test results with the answers to failed tests, which a
diagnosis compares. A file that cannot be read or written costs time but never changes a verdict.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from ...files import replace_file
from ...model.report.schema import TestReport
from ...worker.protocol import frames
from ..outcomes import Flaw, Outcome
from ..targets.in_process import Answer, split_reply
from .pytest_plugin import Ran

_OUTCOMES = {kind.__name__: kind for kind in Outcome.__subclasses__()}


class _Ended(msgspec.Struct, frozen=True, tag=True):
    """A call without an answer: the name of its outcome, and its message."""

    kind: str
    message: str


class _Run(msgspec.Struct, frozen=True):
    """The result of one test. `answers`: reply frames, or outcomes."""

    report: TestReport
    exercise: str
    answers: tuple[bytes | _Ended, ...]
    flaw: Flaw


class _StoredRuns(msgspec.Struct, frozen=True):
    """The results of a program, and a hash of everything that they depend on."""

    depends: bytes
    content: tuple[_Run, ...]


class RunCache:
    """The stored runs of a week, by name.

    depends: a hash of everything that a test's run depends on
    """

    def __init__(self, folder: Path, depends: bytes) -> None:
        self._folder, self._depends = folder, depends

    def get(self, name: str, about: bytes = b"") -> list[Ran] | None:
        """Return the stored results of a program, or None.

        about: a hash of the program and its tests
        """
        try:
            stored = msgspec.msgpack.decode(self._file(name).read_bytes(), type=_StoredRuns)
            if stored.depends != self._depends + about:
                return None
            return [_unpack_run(run) for run in stored.content]
        except (OSError, msgspec.MsgspecError, frames.BadFrame, KeyError):
            return None

    def put(self, name: str, runs: list[Ran], about: bytes = b"") -> None:
        """Store the results of a program, as `get` returns them."""
        entry = _StoredRuns(self._depends + about, tuple(map(_pack_run, runs)))
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            replace_file(self._file(name), msgspec.msgpack.encode(entry))

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.run"


def _pack_run(run: Ran) -> _Run:
    return _Run(run.report, run.exercise, tuple(map(_pack, run.answers)), run.flaw)


def _pack(answer: Answer | Outcome) -> bytes | _Ended:
    if isinstance(answer, Outcome):
        return _Ended(type(answer).__name__, answer.message)
    reply, buffers = answer
    return frames.pack(reply, [bytes(b) for b in buffers])


def _unpack_run(run: _Run) -> Ran:
    answers = [
        _OUTCOMES[a.kind](a.message) if isinstance(a, _Ended) else split_reply(a)
        for a in run.answers
    ]
    return Ran(run.report, run.exercise, answers, flaw=run.flaw)
