"""Answers of the course's own code on disk, shared by all grading processes.

The solution and the misconceptions run through the hidden tests once for each version of them, of
the tests and of the kit, and not once per process of a pool. Stored are the solution's answers, the
tests of each misconception with the answers to the failed ones (a diagnosis compares them), and the
values recorded by traced programs. A file that cannot be read or written costs time, never a
verdict.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from ...files.atomic import replace_file
from ...model.report.schema import TestReport
from ...repair.trace_recorder import WIDTH
from ...worker.protocol import frames
from ..outcomes import Flaw, Outcome
from ..targets.in_process import Answer, split_reply
from .pytest_plugin import Ran

BYTES_OF_A_ROW = 8 * WIDTH
_OUTCOMES = {kind.__name__: kind for kind in Outcome.__subclasses__()}
Content = TypeVar("Content")


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


class _StoredFile(msgspec.Struct, Generic[Content], frozen=True):
    """The content of a file, and a hash of everything that it depends on."""

    depends: bytes
    content: Content


class RunCache:
    """The stored runs of a week, by name.

    depends:  a hash of the course's own code
    of_a_run: a hash of everything that a test's run depends on; `depends` by default
    """

    def __init__(self, folder: Path, depends: bytes, of_a_run: bytes = b"") -> None:
        self._folder, self._depends = folder, depends
        self._of_a_run = of_a_run or depends

    def get(self, name: str, about: bytes = b"") -> list[Ran] | None:
        """Return the stored results of a program, or None.

        about: a hash of the program and its tests
        """
        runs = self._read(name, "run", tuple[_Run, ...], self._of_a_run + about)
        try:
            return None if runs is None else [_unpack_run(run) for run in runs]
        except (frames.BadFrame, KeyError):
            return None

    def put(self, name: str, runs: list[Ran], about: bytes = b"") -> None:
        """Store the results of a program."""
        self._write(name, "run", tuple(map(_pack_run, runs)), self._of_a_run + about)

    def notes(self, exercise: str) -> dict[bytes, bytes | None]:
        """Return the values that traced programs of the course recorded in an exercise's tests."""
        found = self._read(exercise, "notes", dict[bytes, bytes | None], self._depends) or {}
        whole = all(n is None or len(n) % BYTES_OF_A_ROW == 0 for n in found.values())
        return found if whole else {}

    def put_notes(self, exercise: str, notes: dict[bytes, bytes | None]) -> None:
        """Add notes to the stored ones; other processes add theirs."""
        self._write(exercise, "notes", {**self.notes(exercise), **notes}, self._depends)

    def _read(self, name: str, kind: str, content: type[Content], depends: bytes) -> Content | None:
        try:
            data = (self._folder / f"{name}.{kind}").read_bytes()
            entry = msgspec.msgpack.decode(data, type=_StoredFile[content])  # type: ignore[valid-type]
        except (OSError, msgspec.MsgspecError):
            return None
        return entry.content if entry.depends == depends else None

    def _write(self, name: str, kind: str, content: object, depends: bytes) -> None:
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            entry = msgspec.msgpack.encode(_StoredFile(depends, content))
            replace_file(self._folder / f"{name}.{kind}", entry)


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
