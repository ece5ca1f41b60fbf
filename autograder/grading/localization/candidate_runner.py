"""Where versions of a wrong exercise run, and what a search may ask of who grades."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from ...repair import NO_PYTHON, Change, essential
from ..diagnosis.probes import Probe, Steps
from ..running.pytest_plugin import Ran
from ..targets.in_process import Target
from ..targets.sandboxed import Sandboxed
from .repair_search import Compared
from .traces import OwnPrograms

_LOOKS = 0.02  # seconds of the clock for which what was spent is taken for the same
_NOT_PARSED = ("SyntaxError", "IndentationError", "TabError")


@dataclass(frozen=True)
class Grader:
    """What a search asks of who grades.

    target: where a version of a submission answers, beside right exercises of these names
    until_failure: the hidden tests of an exercise against a target, some first
    every: all hidden tests of an exercise against a target of this source
    recorded: what each hidden test of an exercise asks, and what the solution answers
    bank: what the misconceptions of an exercise answer
    own: programs of our own, whose values a submission's are compared with
    """

    target: Callable[[Mapping[str, bytes], tuple[str, ...]], Target]
    until_failure: Callable[[Target, str, tuple[str, ...]], list[Ran]]
    every: Callable[[Target, str, str], list[Ran]]
    recorded: Callable[[str], Mapping[str, Steps]]
    bank: Callable[[str], Compared]
    own: Callable[[str], OwnPrograms]


@dataclass(frozen=True)
class WrongExercise:
    """An exercise of a submission that fails tests: all that a search needs of it.

    others: what it uses that is not its own. read: the parameters that right code reads
    lent: the exercises that right ones stand in for
    """

    files: Mapping[str, bytes]
    module: str
    exercise: str
    others: frozenset[str]
    ran: tuple[Ran, ...]
    read: frozenset[str] = frozenset()
    lent: tuple[str, ...] = ()

    @property
    def data(self) -> bytes:
        return self.files.get(self.module, b"")

    @property
    def source(self) -> str:
        return self.data.decode("utf-8", "replace")

    @property
    def failing(self) -> list[Ran]:
        return [r for r in self.ran if r.report.verdict.failed]


class Bench:
    """Where versions of a wrong exercise run, within some processor time."""

    def __init__(self, grader: Grader, wrong: WrongExercise, seconds: float) -> None:
        self._grader, self._wrong, self._seconds = grader, wrong, seconds
        self._short = wrong.data
        self._first = tuple(r.report.name for r in wrong.failing)
        self._target: Target | None = None
        self._began = 0.0
        self._ended: float | None = None
        self._spent, self._looked = 0.0, -1.0

    def begin(self) -> None:
        self._began = time.thread_time()

    def spare(self, seconds: float) -> None:
        """What was spent for all of a class is not this submission's."""
        self._began += seconds

    @property
    def spent(self) -> float:
        """Processor seconds, of the versions and of looking at them, or a moment ago."""
        if self._ended is not None:
            return self._ended
        if time.monotonic() - self._looked > _LOOKS:
            self._spent, self._looked = self._all_spent(), time.monotonic()
        return self._spent

    def _all_spent(self) -> float:
        inside = self._target.used_seconds() if isinstance(self._target, Sandboxed) else 0.0
        return time.thread_time() - self._began + inside

    @property
    def spent_share(self) -> float:
        return self.spent / self._seconds

    @property
    def over(self) -> bool:
        return self.spent > self._seconds

    def shorten(self, asked: Iterable[Probe]) -> None:
        """From now on these are asked; what nobody asks for need not be imported."""
        names = {self._wrong.exercise}.union(*(p.calls for p in asked))
        self._short = essential(self._wrong.source, names)

    def short(self, made: Change) -> Target | None:
        """The version as far as the exercise needs it; None if it is no Python."""
        return self._version(made.applied(self._short))

    def other(self, text: str) -> Target:
        """A module of another text."""
        return self._load(text.encode())

    def passes(self, made: Change) -> bool:
        """Whether all hidden tests of the exercise hold."""
        target = self._version(made.applied(self._wrong.data))
        if target is None:
            return False
        ran = self._grader.until_failure(target, self._wrong.exercise, self._first)
        return all(not r.report.verdict.failed for r in self._counted(ran))

    def run(self, made: Change) -> list[Ran]:
        """All hidden tests of the exercise."""
        text = made.applied(self._wrong.data)
        source = text.decode("utf-8", "replace")
        return self._counted(self._grader.every(self._load(text), self._wrong.exercise, source))

    def _counted(self, ran: Iterable[Ran]) -> list[Ran]:
        """Without the tests that are set apart."""
        names = {r.report.name for r in self._wrong.ran}
        return [r for r in ran if r.report.name in names]

    def _version(self, text: bytes) -> Target | None:
        """A module of this text; None if it is no Python."""
        if not isinstance(self._target, Sandboxed):
            return self._load(text) if _compiles(text) else None
        ended = self._target.swap(self._files(text))  # it is compiled there
        return None if ended in _NOT_PARSED else self._target

    def _load(self, text: bytes) -> Target:
        if isinstance(self._target, Sandboxed):
            self._target.swap(self._files(text))
        else:
            self._close()
            self._target = self._grader.target(self._files(text), self._wrong.lent)
        return self._target

    def _files(self, text: bytes) -> dict[str, bytes]:
        return {**self._wrong.files, self._wrong.module: text}

    def end(self) -> float:
        """End the process; what was spent in all."""
        self._ended = self._all_spent()
        self._close()
        return self._ended

    def _close(self) -> None:
        if self._target is not None:
            self._target.close()


def _compiles(text: bytes) -> bool:
    try:
        compile(text, "version", "exec")
    except NO_PYTHON:
        return False
    return True
