"""Run edited versions of a wrong exercise on hidden tests or probes, and measure their time.

A hidden test draws inputs, encodes calls and compares the answers. A probe only replays the
recorded calls, and stops at the first answer that is far from the solution's. Such an answer is
enough to reject a version. A version that passes the probe still has to pass the test itself.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch

from ...repair import Edit, without_unused_definitions
from ...worker.protocol import frames
from ...worker.protocol.frames import Answer, frame_path
from ...worker.protocol.values import read_answer
from ..comparator import FAR, distance, largest_entry
from ..outcomes import Forbidden, Outcome
from ..running.pytest_plugin import Ran
from ..running.test_runner import Load, Runs
from ..targets.in_process import Target
from ..targets.sandboxed import Reloaded

_CLOCK_SECONDS = 0.02  # how long a reading of the sandbox's processor time stays valid
_PATIENCE = 4.0  # limit on the measured processor time, as a multiple of the budget
_NOISE = 1e-2  # smaller gradients, relative to the value, may be rounding noise
_TOO_LARGE = 4  # limit on the largest tensor, as a multiple of the solution's largest tensor


@dataclass
class Probe:
    """The requests that a test makes, each with the solution's answer.

    within: the largest distance of an answer that passes; see `comparator.distance`
    """

    test: str
    steps: list[tuple[bytes, Answer]]
    within: float = 1.0
    size: int = field(init=False)
    _references: dict[int, ReferenceAnswer] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.size = sum(len(frame) for frame, _ in self.steps)

    @property
    def calls(self) -> set[str]:
        """The names of the module's functions and classes that the test calls."""
        return {frame_path(frame).partition(".")[0] for frame, _ in self.steps}

    def replay(self, target: Target, exercise: str) -> None:
        """Make the requests on a target; raise an Outcome if one fails or is forbidden."""
        target.begin(self.test, exercise)
        for frame, _ in self.steps:
            for banned in target.request(frame)[0].banned:
                raise Forbidden(banned.call)

    def passes(self, target: Target, exercise: str) -> bool:
        """Return True if no answer differs from the solution's; stop at the first that does."""
        target.begin(self.test, exercise)
        for number, (frame, right) in enumerate(self.steps):
            try:
                answer = target.request(frame)
            except Outcome:
                return False
            if number not in self._references:
                self._references[number] = ReferenceAnswer(right)
            if self._references[number].distance(answer) > self.within:
                return False
        return True


class ReferenceAnswer:
    """An answer of the solution, decoded only once for comparison with many answers."""

    def __init__(self, answer: Answer) -> None:
        self._reply = answer[0]
        self._decoded = _decoded_or_none(answer)

    @cached_property
    def _gradient_scale(self) -> float:
        value, gradients = self._decoded or (None, ())
        scale = max(map(largest_entry, gradients), default=0.0)
        return max(scale, _NOISE * largest_entry(value)) if torch.is_tensor(value) else scale

    def distance(self, mine: Answer) -> float:
        """Return the distance of an answer from the reference answer.

        An answer with a distance above 1 is wrong. The distance is FAR if the answers cannot be
        compared by their values, for example if only one of the calls raised an exception.
        """
        a, b = mine[0], self._reply
        same = a.status == b.status and not a.banned and bool(a.detached) == bool(b.detached)
        if not same or a.side_effects != b.side_effects:
            return FAR
        if b.raised is not None and (a.raised is None or a.raised.type != b.raised.type):
            return FAR
        if a.counts and b.counts and a.counts.largest > _TOO_LARGE * b.counts.largest:
            return FAR
        decoded = _decoded_or_none(mine)
        if decoded is None or self._decoded is None:
            return FAR
        (value, gradients), (right, right_gradients) = decoded, self._decoded
        return max(
            distance(value, right), distance(gradients, right_gradients, self._gradient_scale)
        )


def _decoded_or_none(answer: Answer) -> tuple[Any, tuple[Any, ...]] | None:
    try:
        return read_answer(answer)
    except frames.BadFrame:
        return None


@dataclass(frozen=True)
class WrongExercise:
    """An exercise of a submission that fails tests.

    foreign: names of definitions that belong to other exercises or to the course
    ran: the results of the exercise's hidden tests
    stubbed: other exercises that are replaced by correct versions while the tests run
    """

    files: Mapping[str, bytes]
    module: str
    exercise: str
    foreign: frozenset[str]
    ran: tuple[Ran, ...]
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
    """Runs edited versions of a wrong exercise, one after the other, in one process.

    load:    loads a submission's files, with correct versions of the named exercises
    seconds: the budget for `SubmissionClocks.work`. An edit that fixes an exercise changes its
             points, so a submission must have the same budget however busy the machine is. The
             measured processor time limits only programs that are much slower than usual
    """

    def __init__(self, runs: Runs, load: Load, wrong: WrongExercise, seconds: float) -> None:
        self._runs, self._wrong, self._seconds = runs, wrong, seconds
        self._version = Reloaded(lambda files: load(files, wrong.stubbed))
        self.exclude = self._version.exclude
        self._short = wrong.data
        self._failed = tuple(r.report.name for r in wrong.failing)
        self._tests = {r.report.name for r in wrong.ran}
        self._measured, self._read_at = 0.0, -1.0

    @property
    def spent_share(self) -> float:
        """The share of the budget that is spent. The measured part may be 20 ms old."""
        if time.monotonic() - self._read_at > _CLOCK_SECONDS:
            self._measured, self._read_at = self._version.seconds(), time.monotonic()
        return max(self._version.work(), self._measured / _PATIENCE) / self._seconds

    def shorten(self, probes: Iterable[Probe]) -> None:
        """Make `short` load only the definitions that these probes need."""
        names = {self._wrong.exercise}.union(*(p.calls for p in probes))
        self._short = without_unused_definitions(self._wrong.source, names)

    def short(self, edit: Edit) -> Target:
        """Load an edited version without unused definitions."""
        return self.load(edit.applied(self._short))

    def passes(self, edit: Edit) -> bool:
        """Return True if all hidden tests of the exercise pass after an edit."""
        target = self.load(edit.applied(self._wrong.data))
        ran = self._runs.run_until_failure(target, self._wrong.exercise, self._failed)
        return all(not r.report.verdict.failed for r in ran if r.report.name in self._tests)

    def run(self, edit: Edit) -> list[Ran]:
        """Run all hidden tests after an edit."""
        text, runs = edit.applied(self._wrong.data), self._runs
        files = runs.files(text.decode("utf-8", "replace"))
        ran = runs.run(self.load(text), files, self._wrong.exercise)
        return [r for r in ran if r.report.name in self._tests]

    def load(self, text: bytes) -> Target:
        """Load a replacement of the submission's module. If its import fails, calls fail."""
        return self._version.load({**self._wrong.files, self._wrong.module: text})

    def end(self) -> float:
        """End the process and return how much of the budget is spent, in seconds."""
        spent = self._version.work()
        self._version.close()
        return spent
