"""Run edited versions of a wrong exercise and measure their processor time."""

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
    """The functions of the grading engine that localization uses.

    runs: the hidden tests
    target: load a submission's files, with correct versions of the named exercises
    own: return the course's own programs for an exercise, as a reference for recorded values
    """

    runs: Runs
    target: Callable[[Mapping[str, bytes], tuple[str, ...]], Target]
    own: Callable[[str], ReferencePrograms]


@dataclass(frozen=True)
class WrongExercise:
    """An exercise of a submission that fails tests.

    foreign: names of definitions that belong to other exercises or to the course
    ran: the results of the exercise's hidden tests
    read: the parameters that the solution reads
    stubbed: other exercises that are replaced by correct versions while the tests run
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
    """Runs edited versions of a wrong exercise, one after the other, in one process."""

    def __init__(self, grader: Grader, wrong: WrongExercise, seconds: float) -> None:
        self._grader, self._wrong, self._seconds = grader, wrong, seconds
        self._short = wrong.data
        self._failed = tuple(r.report.name for r in wrong.failing)
        self._tests = {r.report.name for r in wrong.ran}
        self._target: Target | None = None
        self._began = time.thread_time()
        self._spent, self._read_at = 0.0, -1.0

    def exclude(self, seconds: float) -> None:
        """Do not charge these seconds, which were spent on results that all submissions share."""
        self._began += seconds

    @property
    def spent_share(self) -> float:
        """The share of the time budget that is spent. The value may be 20 ms old."""
        if time.monotonic() - self._read_at > _CLOCK_SECONDS:
            self._spent, self._read_at = self._total_seconds(), time.monotonic()
        return self._spent / self._seconds

    def _total_seconds(self) -> float:
        inside = self._target.clocks.used_seconds() if isinstance(self._target, Sandboxed) else 0.0
        return time.thread_time() - self._began + inside

    def shorten(self, probes: Iterable[Probe]) -> None:
        """Make `short` load only the definitions that these probes need."""
        names = {self._wrong.exercise}.union(*(p.calls for p in probes))
        self._short = without_unused_definitions(self._wrong.source, names)

    def short(self, edit: Edit) -> Target | None:
        """Load an edited version without unused definitions; return None if it cannot be parsed."""
        return self._load(edit.applied(self._short))

    def load_text(self, text: str) -> Target | None:
        """Load a replacement of the submission's module; return None if it cannot be parsed."""
        return self._load(text.encode())

    def passes(self, edit: Edit) -> bool:
        """Return True if all hidden tests of the exercise pass after an edit."""
        target = self._load(edit.applied(self._wrong.data))
        if target is None:
            return False
        ran = self._grader.runs.run_until_failure(target, self._wrong.exercise, self._failed)
        return all(not r.report.verdict.failed for r in ran if r.report.name in self._tests)

    def run(self, edit: Edit) -> list[Ran]:
        """Run all hidden tests after an edit; return the old results if parsing fails."""
        text, runs = edit.applied(self._wrong.data), self._grader.runs
        target = self._load(text)
        if target is None:
            return list(self._wrong.ran)
        ran = runs.run(target, runs.files(text.decode("utf-8", "replace")), self._wrong.exercise)
        return [r for r in ran if r.report.name in self._tests]

    def _load(self, text: bytes) -> Target | None:
        files = {**self._wrong.files, self._wrong.module: text}
        if isinstance(self._target, Sandboxed):
            ended = self._target.swap(files)  # the sandbox compiles the module
            return None if ended in _NOT_PARSED else self._target
        if not _compiles(text):
            return None
        self._close()
        self._target = self._grader.target(files, self._wrong.stubbed)
        return self._target

    def end(self) -> float:
        """End the process and return the total processor time spent, in seconds."""
        spent = self._total_seconds()
        self._close()
        return spent

    def _close(self) -> None:
        if self._target is not None:
            self._target.close()


def _compiles(text: bytes) -> bool:
    try:
        compile(text, "version", "exec")
    except UNPARSABLE:
        return False
    return True
