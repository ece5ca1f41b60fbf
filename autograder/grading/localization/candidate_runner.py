"""Run edited versions of a wrong exercise within a budget of processor time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from ...repair import UNPARSABLE, Edit, without_unused_definitions
from ..diagnosis.probes import Probe
from ..running.pytest_plugin import Ran
from ..running.test_runner import Runs
from ..targets.in_process import Target
from ..targets.sandboxed import Sandboxed
from .traces import ReferencePrograms

_CLOCK_SECONDS = 0.02  # how long a reading of the sandbox's processor time stays valid
_NOT_PARSED = ("SyntaxError", "IndentationError", "TabError")


@dataclass(frozen=True)
class Grader:
    """The services of the engine that localization needs.

    runs: the hidden tests
    target: load a submission's files, with correct versions of the named exercises
    own: the course's programs whose traced values are compared with a submission's
    """

    runs: Runs
    target: Callable[[Mapping[str, bytes], tuple[str, ...]], Target]
    own: Callable[[str], ReferencePrograms]


@dataclass(frozen=True)
class WrongExercise:
    """An exercise of a submission that fails tests.

    foreign: definitions that it uses but that belong to other exercises or to the course
    read: the parameters that correct code reads
    stubbed: the exercises that are replaced by correct ones
    """

    files: Mapping[str, bytes]
    module: str
    exercise: str
    foreign: frozenset[str]
    ran: tuple[Ran, ...]
    read: frozenset[str] = frozenset()
    stubbed: tuple[str, ...] = ()

    @property
    def data(self) -> bytes:
        return self.files.get(self.module, b"")

    @property
    def source(self) -> str:
        return self.data.decode("utf-8", "replace")

    @property
    def failing(self) -> list[Ran]:
        return [r for r in self.ran if r.report.verdict.failed]


class CandidateRunner:
    """Runs versions of a wrong exercise, one after the other, in one process."""

    def __init__(self, grader: Grader, wrong: WrongExercise, seconds: float) -> None:
        self._grader, self._wrong, self._seconds = grader, wrong, seconds
        self._short = wrong.data
        self._failed = tuple(r.report.name for r in wrong.failing)
        self._tests = {r.report.name for r in wrong.ran}
        self._target: Target | None = None
        self._began = 0.0
        self._ended: float | None = None
        self._spent, self._read_at = 0.0, -1.0

    def begin(self) -> None:
        """Start the clock."""
        self._began = time.thread_time()

    def exclude(self, seconds: float) -> None:
        """Exclude processor time whose results serve every submission, such as reference traces."""
        self._began += seconds

    @property
    def spent(self) -> float:
        """Processor seconds of the versions and the search; may be 20 ms old."""
        if self._ended is not None:
            return self._ended
        if time.monotonic() - self._read_at > _CLOCK_SECONDS:
            self._spent, self._read_at = self._total_seconds(), time.monotonic()
        return self._spent

    def _total_seconds(self) -> float:
        inside = self._target.clocks.used_seconds() if isinstance(self._target, Sandboxed) else 0.0
        return time.thread_time() - self._began + inside

    @property
    def spent_share(self) -> float:
        return self.spent / self._seconds

    @property
    def over(self) -> bool:
        return self.spent > self._seconds

    def shorten(self, probes: Iterable[Probe]) -> None:
        """Make `short` load only the definitions that these probes need."""
        names = {self._wrong.exercise}.union(*(p.calls for p in probes))
        self._short = without_unused_definitions(self._wrong.source, names)

    def short(self, edit: Edit) -> Target | None:
        """Load the definitions that the exercise needs, or return None if they cannot be parsed."""
        return self._load_version(edit.applied(self._short))

    def load_text(self, text: str) -> Target:
        """Load a module that replaces the submission's."""
        return self._load(text.encode())

    def passes(self, edit: Edit) -> bool:
        """Return True if all hidden tests of the exercise pass."""
        target = self._load_version(edit.applied(self._wrong.data))
        if target is None:
            return False
        ran = self._grader.runs.run_until_failure(target, self._wrong.exercise, self._failed)
        return all(not r.report.verdict.failed for r in ran if r.report.name in self._tests)

    def run(self, edit: Edit) -> list[Ran]:
        """Run all hidden tests of the exercise."""
        text = edit.applied(self._wrong.data)
        target, runs = self._load(text), self._grader.runs
        ran = runs.run(target, runs.files(text.decode("utf-8", "replace")), self._wrong.exercise)
        return [r for r in ran if r.report.name in self._tests]

    def _load_version(self, text: bytes) -> Target | None:
        if not isinstance(self._target, Sandboxed):
            return self._load(text) if _compiles(text) else None
        ended = self._target.swap(self._files(text))  # the sandbox compiles it
        return None if ended in _NOT_PARSED else self._target

    def _load(self, text: bytes) -> Target:
        if isinstance(self._target, Sandboxed):
            self._target.swap(self._files(text))
        else:
            self._close()
            self._target = self._grader.target(self._files(text), self._wrong.stubbed)
        return self._target

    def _files(self, text: bytes) -> dict[str, bytes]:
        return {**self._wrong.files, self._wrong.module: text}

    def end(self) -> float:
        """End the process; return the processor seconds that were spent."""
        self._ended = self._total_seconds()
        self._close()
        return self._ended

    def _close(self) -> None:
        if self._target is not None:
            self._target.close()


def _compiles(text: bytes) -> bool:
    try:
        compile(text, "version", "exec")
    except UNPARSABLE:
        return False
    return True
