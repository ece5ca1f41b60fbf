"""Store the test results of the misconceptions on disk, for all grading processes.

With this cache, the misconceptions run through the hidden tests once for each version of the
programs, the tests and the kit, instead of once per process of a pool. The cache stores their
replies in failed tests too, because a diagnosis compares a submission's replies with them. An
unreadable or unwritable file costs time but never changes a verdict.
"""

import contextlib
from pathlib import Path

import msgspec

from ...files import replace_file
from ...model.report.schema import TestReport
from ...worker.protocol import frames
from ...worker.protocol.frames import Answer, split_reply
from ..outcomes import Flaw, Outcome
from .pytest_plugin import Ran

_OUTCOMES = {kind.__name__: kind for kind in Outcome.__subclasses__()}


class _StoredRun(msgspec.Struct, frozen=True):
    """The result of one test. `answers`: reply frames, or the class and message of an Outcome."""

    report: TestReport
    exercise: str
    answers: tuple[bytes | tuple[str, str], ...]
    flaw: Flaw


class RunCache:
    """The stored test results of a week's programs.

    depends: a hash of the kit and of everything else that all results depend on
    """

    def __init__(self, folder: Path, depends: bytes) -> None:
        self._folder, self._depends = folder, depends

    def get(self, name: str, about: bytes = b"") -> list[Ran] | None:
        """Return the stored results of a program, or None if they are missing, invalid or outdated.

        about: a hash of the program and its tests
        """
        try:
            content = self._file(name).read_bytes()
            depends, runs = msgspec.msgpack.decode(
                content, type=tuple[bytes, tuple[_StoredRun, ...]]
            )
            return list(map(_unpack_run, runs)) if depends == self._depends + about else None
        except (OSError, msgspec.MsgspecError, frames.BadFrame, KeyError):
            return None

    def put(self, name: str, runs: list[Ran], about: bytes = b"") -> None:
        """Store the results of a program for `get`. Ignore file system errors."""
        content = self._depends + about, tuple(map(_pack_run, runs))
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            replace_file(self._file(name), msgspec.msgpack.encode(content))

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.run"


def _pack_run(run: Ran) -> _StoredRun:
    return _StoredRun(run.report, run.exercise, tuple(map(_pack, run.answers)), run.flaw)


def _pack(answer: Answer | Outcome) -> bytes | tuple[str, str]:
    if isinstance(answer, Outcome):
        return type(answer).__name__, answer.message
    reply, buffers = answer
    return frames.pack(reply, [bytes(b) for b in buffers])


def _unpack_run(run: _StoredRun) -> Ran:
    answers = [
        split_reply(a) if isinstance(a, bytes) else _OUTCOMES[a[0]](a[1]) for a in run.answers
    ]
    return Ran(run.report, run.exercise, answers, flaw=run.flaw)
