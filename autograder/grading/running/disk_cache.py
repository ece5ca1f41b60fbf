"""What our own code answered to the week's tests, kept on disk for every process that grades.

It depends on our own code alone, so a version of that is run once, and not again by each process of
a pool or each later batch: a misconception as long as it, its tests and what runs them are the
same. Of the solution all answers are kept; of a misconception the failed tests, with all they were
answered: that is what a diagnosis compares. A file that cannot be read or written costs time, never
a verdict.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from ...files.atomic import replace_file
from ...model.report.schema import TestReport
from ...repair.trace_recorder import WIDTH
from ...worker.protocol import frames
from ..outcomes import Flaw, Outcome
from ..targets.in_process import Answer, split_reply
from .pytest_plugin import Ran

BYTES_OF_A_ROW = 8 * WIDTH
_ENDS = {kind.__name__: kind for kind in Outcome.__subclasses__()}


class _Ended(msgspec.Struct, frozen=True, tag=True):
    """A call that gave no answer."""

    kind: str
    message: str


class _Failed(msgspec.Struct, frozen=True):
    """A failed test. `answers`: reply frames, or how the call ended."""

    report: TestReport
    exercise: str
    answers: tuple[bytes | _Ended, ...]
    flaw: Flaw


class _Kept(msgspec.Struct, frozen=True):
    depends: bytes
    failed: tuple[_Failed, ...]


class _Answers(msgspec.Struct, frozen=True):
    depends: bytes
    answers: dict[bytes, bytes]


class _Notes(msgspec.Struct, frozen=True):
    depends: bytes
    notes: dict[bytes, bytes | None]


class KeptRuns:
    """Misconceptions' failed tests and the solution's answers by name.

    depends: a hash of all that is our own. of_a_run: of what every run depends on; where that is
    all that is given, it is the same.
    """

    def __init__(self, folder: Path, depends: bytes, of_a_run: bytes = b"") -> None:
        self._folder, self._depends = folder, depends
        self._of_a_run = of_a_run or depends

    def get(self, name: str, about: bytes = b"") -> list[Ran] | None:
        """The failed tests, or None if they are not known for this version.

        about: what this run depends on besides
        """
        try:
            kept = msgspec.msgpack.decode(self._path(name, "run").read_bytes(), type=_Kept)
            return (
                [_run(f) for f in kept.failed] if kept.depends == self._of_a_run + about else None
            )
        except (OSError, msgspec.MsgspecError, frames.BadFrame, KeyError):
            return None

    def put(self, name: str, failed: list[Ran], about: bytes = b"") -> None:
        kept = _Kept(self._of_a_run + about, tuple(map(_failed, failed)))
        self._write(self._path(name, "run"), kept)

    def answers(self, name: str) -> dict[bytes, bytes]:
        """What is known of a `RecordedTarget`'s answers, by the hash of the calls up to each."""
        try:
            kept = msgspec.msgpack.decode(self._path(name, "answers").read_bytes(), type=_Answers)
            if kept.depends != self._of_a_run:
                return {}
            for answer in kept.answers.values():
                split_reply(answer)
            return kept.answers
        except (OSError, msgspec.MsgspecError, frames.BadFrame):
            return {}

    def put_answers(self, name: str, answers: dict[bytes, bytes]) -> None:
        """Keep answers, beside those that another process kept meanwhile."""
        known = {**self.answers(name), **answers}
        self._write(self._path(name, "answers"), _Answers(self._of_a_run, known))

    def notes(self, exercise: str) -> dict[bytes, bytes | None]:
        """What traced programs of ours noted (`ownnotes.py`)."""
        try:
            data = self._path(exercise, "notes").read_bytes()
            kept = msgspec.msgpack.decode(data, type=_Notes)
        except (OSError, msgspec.MsgspecError):
            return {}
        whole = all(n is None or len(n) % BYTES_OF_A_ROW == 0 for n in kept.notes.values())
        return kept.notes if whole and kept.depends == self._depends else {}

    def put_notes(self, exercise: str, notes: dict[bytes, bytes | None]) -> None:
        """Keep them, beside those that another process kept meanwhile."""
        known = {**self.notes(exercise), **notes}
        self._write(self._path(exercise, "notes"), _Notes(self._depends, known))

    def _write(self, path: Path, kept: _Kept | _Answers | _Notes) -> None:
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            replace_file(path, msgspec.msgpack.encode(kept))

    def _path(self, name: str, kind: str) -> Path:
        return self._folder / f"{name}.{kind}"


def _failed(ran: Ran) -> _Failed:
    return _Failed(ran.report, ran.exercise, tuple(map(_pack, ran.answers)), ran.flaw)


def _pack(answer: Answer | Outcome) -> bytes | _Ended:
    if isinstance(answer, Outcome):
        return _Ended(type(answer).__name__, answer.message)
    reply, buffers = answer
    return frames.pack(reply, [bytes(b) for b in buffers])


def _run(failed: _Failed) -> Ran:
    answers = [_unpack(a) for a in failed.answers]
    return Ran(failed.report, failed.exercise, answers, flaw=failed.flaw)


def _unpack(answer: bytes | _Ended) -> Answer | Outcome:
    if isinstance(answer, _Ended):
        return _ENDS[answer.kind](answer.message)
    return split_reply(answer)
