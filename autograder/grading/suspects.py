"""The line: the smallest change of a student's own code that makes every failing test pass.

Theory of operation. Versions of the submission, each with one change by a public operator, run in
its own kind of sandbox, in one process after the other: a version that hangs or breaks out of its
bounds ends its process, and the next gets a new one. A submission can lie about its own line and
gains nothing: verdicts and points are settled before. What a change puts in is never shown.

Most versions are rejected by the first answer that is far from the solution's (`probes`). What is
left is confirmed by the hidden tests: all that failed pass now, and none that passed fails.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from ..model.course import Week
from ..model.report import Suspect
from ..model.verdicts import Verdict
from ..repair import Change, changes
from .plugin import Ran
from .probes import FAR, Probe, Recording, distance
from .targets import InProcess, Sandboxed, Target

_PLACES = 3
_CLOSER = 0.25  # of the student's own distance: what differs less cannot be told by looking
_BARELY = 1e-4
_STOPPED = (Verdict.CRASHED, Verdict.FORBIDDEN, Verdict.TIMEOUT, Verdict.LIMIT)


@dataclass(frozen=True)
class WrongExercise:
    """An exercise of a submission that fails tests: all that a search needs of it."""

    files: Mapping[str, bytes]
    module: str
    exercise: str
    others: frozenset[str]
    ran: tuple[Ran, ...]

    @property
    def failing(self) -> list[Ran]:
        return [r for r in self.ran if r.report.verdict.failed]


class LineFinder:
    """Looks for the lines of a week's wrong exercises.

    seconds: of processor time for each exercise; 0 looks for none
    target: where a version of a submission answers
    run: the hidden tests of an exercise against a target, until one fails if asked
    solution: makes a target of the solution
    """

    def __init__(
        self,
        week: Week,
        seconds: float,
        target: Callable[[Mapping[str, bytes]], Target],
        run: Callable[[Target, str, tuple[str, ...]], list[Ran]],
        solution: Callable[[], Target],
    ) -> None:
        self._week, self._seconds = week, seconds
        self._target, self._run, self._solution = target, run, solution
        self._probes: dict[str, dict[str, Probe]] = {}

    def find(
        self, files: Mapping[str, bytes], exercise: str, ran: Iterable[Ran]
    ) -> tuple[Suspect, ...]:
        others = frozenset(e.name for e in self._week.exercises)
        wrong = WrongExercise(files, self._week.module, exercise, others, tuple(ran))
        if not self._seconds or not wrong.failing:
            return ()
        failing = tuple(r.report.name for r in wrong.failing)
        bench = Bench(
            self._target, lambda target: self._run(target, exercise, failing), self._seconds
        )
        return suspects(wrong, self._probes_of(exercise), bench)

    def _probes_of(self, exercise: str) -> dict[str, Probe]:
        if exercise not in self._probes:
            recording = Recording(self._solution())
            self._run(recording, exercise, ())
            self._probes[exercise] = {
                test: Probe(test, [(f, a) for f, a in steps if isinstance(a, tuple)])
                for test, steps in recording.steps.items()
            }
        return self._probes[exercise]


@dataclass
class Bench:
    """Where versions run. `tests`: the hidden tests against a version, up to the first failure."""

    start: Callable[[Mapping[str, bytes]], Target]
    tests: Callable[[Target], Iterable[Ran]]
    seconds: float
    _target: Target | None = None
    _began: float = 0.0

    def begin(self) -> None:
        self._began = time.thread_time()

    @property
    def spent(self) -> float:
        """Processor seconds, of the versions and of looking at them."""
        inside = self._target.ran_seconds() if isinstance(self._target, Sandboxed) else 0.0
        return time.thread_time() - self._began + inside

    def load(self, files: Mapping[str, bytes]) -> Target:
        if isinstance(self._target, Sandboxed):
            self._target.swap(files)
        else:
            if isinstance(self._target, InProcess):
                self._target.close()
            self._target = self.start(files)
        return self._target

    def close(self) -> None:
        if self._target is not None:
            self._target.close()


def suspects(
    wrong: WrongExercise, probes: Mapping[str, Probe], bench: Bench
) -> tuple[Suspect, ...]:
    """The places where one change makes all tests of the exercise pass; where the code stopped, if
    there is none."""
    failing = wrong.failing
    if not failing or any(r.report.verdict is Verdict.UNWRITTEN for r in failing):
        return ()
    stopped = _stopped(wrong)
    if any(r.report.verdict is Verdict.FORBIDDEN for r in failing):
        return stopped
    source = wrong.files.get(wrong.module, b"")
    candidates = _ranked(
        changes(source.decode("utf-8", "replace"), wrong.exercise, wrong.others), failing
    )
    asked = [p for r in failing if (p := _sharp(r, probes.get(r.report.name))) is not None]
    found: dict[tuple[str, int], Suspect] = {}
    bench.begin()
    try:
        for change in candidates:
            if bench.spent > bench.seconds or len(found) >= _PLACES:
                break
            if (change.function, change.line) in found:
                continue
            if _mends(change, source, wrong, asked, bench):
                for line in (change.line, *change.more):
                    place = Suspect(wrong.module, line, change.function, change.kind)
                    found.setdefault((change.function, line), place)
    finally:
        bench.close()
    return tuple(found.values()) or stopped


def _ranked(candidates: list[Change], failing: list[Ran]) -> list[Change]:
    """Changes of the line where the code stopped come first."""
    lines = {r.report.line for r in failing if r.report.line}
    return sorted(candidates, key=lambda c: c.weight - (1.0 if c.line in lines else 0.0))


def _sharp(failed: Ran, probe: Probe | None) -> Probe | None:
    """The probe of a failed test, so sharp that it sees what is wrong with the student's answer."""
    if probe is None or not probe.steps:
        return None
    index = len(failed.answers) - 1
    last = failed.answers[index] if failed.answers else None
    within = 1.0
    if isinstance(last, tuple) and index < len(probe.steps):
        apart = distance(last, probe.steps[index][1])
        within = min(1.0, _CLOSER * apart) if apart < FAR else 1.0
    if within < _BARELY:
        return None
    return Probe(probe.test, probe.steps, within)


def _mends(
    change: Change, source: bytes, wrong: WrongExercise, asked: list[Probe], bench: Bench
) -> bool:
    changed = change.applied(source)
    try:
        compile(changed, "version", "exec")
    except (SyntaxError, ValueError, RecursionError):
        return False
    target = bench.load({**wrong.files, wrong.module: changed})
    for number, probe in enumerate(asked):
        if probe.sees_difference(target, wrong.exercise):
            asked.insert(0, asked.pop(number))  # it will reject the next one sooner
            return False
    return all(not ran.report.verdict.failed for ran in bench.tests(target))


def _stopped(wrong: WrongExercise) -> tuple[Suspect, ...]:
    """Where the code itself stopped, if all that fails stopped in one place."""
    places = {(r.report.line, r.report.verdict) for r in wrong.failing}
    if len(places) != 1:
        return ()
    line, verdict = places.pop()
    if not line or verdict not in _STOPPED:
        return ()
    return (Suspect(wrong.module, line, wrong.exercise, verdict.value),)
