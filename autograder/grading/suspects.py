"""The line: the smallest change of a student's own code that makes every failing test pass.

Theory of operation. Versions of the submission, each with one change by a public operator, run in
its own kind of sandbox, in one process after the other: a version that hangs or breaks out of its
bounds ends its process, and the next gets a new one. A submission can lie about its own line and
gains nothing: verdicts and points are settled before. What a change puts in is never shown.

Most versions are rejected by the first answer that is far from the solution's (`probes`). What is
left is confirmed by the hidden tests: all that failed pass now, and none that passed fails. Where
another submission has the same words and failed the same tests, what mended that one is tried.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ..model.course import Suspects, Week
from ..model.report import Suspect
from ..model.verdicts import Verdict
from ..repair import Change, changes, wording
from .clues import Clues
from .plugin import Ran
from .probes import FAR, Probe, Recording, distance
from .targets import InProcess, Sandboxed, Target

_PLACES = 3
_ALSO = 1.0  # a change that is so much less likely than the first that mends is not tried any more
_CLOSER = 0.25  # of the student's own distance: what differs less cannot be told by looking
_BARELY = 1e-4
_MOST_KNOWN = 1000
_STOPPED = (Verdict.CRASHED, Verdict.FORBIDDEN, Verdict.TIMEOUT, Verdict.LIMIT)


class WrittenAlike(NamedTuple):
    """What a wrong exercise has in common with others of a class: its words and what they fail."""

    exercise: str
    words: tuple[str, ...]
    failing: frozenset[str]


Known = dict[WrittenAlike, tuple[int, ...]]


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

    settings: how long
    target: where a version of a submission answers
    run: the hidden tests of an exercise against a target, until one fails if asked
    solution: makes a target of the solution
    """

    def __init__(
        self,
        week: Week,
        settings: Suspects,
        target: Callable[[Mapping[str, bytes]], Target],
        run: Callable[[Target, str, tuple[str, ...]], list[Ran]],
        solution: Callable[[], Target],
    ) -> None:
        self._week, self._settings = week, settings
        self._target, self._run, self._solution = target, run, solution
        self._probes: dict[str, dict[str, Probe]] = {}
        self._known: dict[WrittenAlike, tuple[int, ...]] = {}
        self._left = settings.submission

    def begin(self) -> None:
        """Another submission, with all its time before it."""
        self._left = self._settings.submission

    def find(
        self, files: Mapping[str, bytes], exercise: str, ran: Iterable[Ran]
    ) -> tuple[Suspect, ...]:
        others = frozenset(e.name for e in self._week.exercises)
        wrong = WrongExercise(files, self._week.module, exercise, others, tuple(ran))
        seconds = min(self._settings.seconds, self._left)
        if seconds <= 0 or not wrong.failing:
            return ()
        failing = tuple(r.report.name for r in wrong.failing)
        bench = Bench(self._target, lambda target: self._run(target, exercise, failing), seconds)
        bench.begin()
        try:
            return suspects(wrong, self._probes_of(exercise), bench, self._known)
        finally:
            self._left -= bench.spent
            bench.close()

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

    @property
    def over(self) -> bool:
        return self.spent > self.seconds

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
    wrong: WrongExercise, probes: Mapping[str, Probe], bench: Bench, known: Known
) -> tuple[Suspect, ...]:
    """The places where one change makes all tests of the exercise pass; where the code stopped, if
    there is none.

    known: of exercises that were written alike and failed alike, which changes did
    """
    failing = wrong.failing
    if not failing or any(r.report.verdict is Verdict.UNWRITTEN for r in failing):
        return ()
    stopped = _stopped(wrong)
    if any(r.report.verdict is Verdict.FORBIDDEN for r in failing):
        return stopped
    text = wrong.files.get(wrong.module, b"").decode("utf-8", "replace")
    written = changes(text, wrong.exercise, wrong.others)
    cause = WrittenAlike(
        wrong.exercise,
        wording(text, wrong.exercise, wrong.others),
        frozenset(r.report.name for r in failing),
    )
    asked = [p for r in failing if (p := _sharp(r, probes.get(r.report.name))) is not None]
    numbers = known.get(cause)
    if numbers is not None:
        found = [n for n in numbers if _mends(written[n], wrong, asked, bench)]
    else:
        found = _search(written, Clues(failing, probes), wrong, asked, bench)
        if len(known) < _MOST_KNOWN:
            known[cause] = tuple(found)
    return _places(wrong.module, [written[n] for n in found]) or stopped


def _search(
    written: list[Change], clues: Clues, wrong: WrongExercise, asked: list[Probe], bench: Bench
) -> list[int]:
    """The numbers of the likeliest changes that mend, one for each line."""
    lines = set[tuple[str, int]]()
    found = list[int]()
    enough = math.inf
    for weight, number in sorted((clues.weight(c), n) for n, c in enumerate(written)):
        change = written[number]
        if bench.over or len(found) >= _PLACES or weight > enough:
            break
        if (change.function, change.line) in lines:
            continue
        if _mends(change, wrong, asked, bench):
            enough = min(enough, weight + _ALSO)
            lines.add((change.function, change.line))
            found.append(number)
    return found


def _places(module: str, found: list[Change]) -> tuple[Suspect, ...]:
    places: dict[tuple[str, int], Suspect] = {}
    for change in found:
        for line in (change.line, *change.more):
            place = Suspect(module, line, change.function, change.kind)
            places.setdefault((change.function, line), place)
    return tuple(places.values())


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


def _mends(change: Change, wrong: WrongExercise, asked: list[Probe], bench: Bench) -> bool:
    changed = change.applied(wrong.files.get(wrong.module, b""))
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
