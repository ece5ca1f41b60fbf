"""The line: the smallest change of a student's own code that makes every failing test pass.

Theory of operation. Versions of the submission, each with one change by a public operator, run in
its own kind of sandbox, in one process after the other: a version that hangs or breaks out of its
bounds ends its process, and the next gets a new one. A submission can lie about its own line and
gains nothing: verdicts and points are settled before. What a change puts in is never shown.

Which versions are tried, and how little of each, is in `search`. What is found is confirmed by the
hidden tests: all that failed pass now, and none that passed fails. What was found is tried first in
other submissions with the same cause (`causes`), and confirmed there.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from ...model.course.loader import Suspects, Week
from ...model.report.schema import Suspect
from ...model.report.verdicts import Verdict
from ...repair import (
    Change,
    changes,
    foreign_lines,
    ignored,
    in_common,
    parameters,
    wording,
    wording_of_module,
    wrappers,
)
from ...repair.edit_wording import IGNORED, SHOWN, WHATEVER
from ..diagnosis.probes import FAR, Probe, distance
from ..running.pytest_plugin import Ran
from .candidate_runner import Bench, Grader, WrongExercise
from .class_causes import FoundPlaces, KnownCauses, cause_of
from .partial_repairs import ANYWHERE, SAYS_LITTLE, plainness
from .ranking import Clues
from .repair_search import Compared, Mended, Search, ways_to_fail
from .stops import needed, stops
from .traces import NO_HINTS, Place, Traces, ValueHints

_CLOSER = 0.25  # of the student's own distance: what differs less cannot be told by looking
_BARELY = 1e-4
_WHOLE = 0.4  # of its time: a search that took no more was cut short nowhere
_STOPPED = (Verdict.CRASHED, Verdict.FORBIDDEN, Verdict.TIMEOUT, Verdict.LIMIT)


class LineFinder:
    """Looks for the lines of a week's wrong exercises; those of alike ones it only confirms.

    settings: how long. searches: how often it had to look.
    """

    def __init__(self, week: Week, settings: Suspects, grader: Grader) -> None:
        self._week, self._settings, self._grader = week, settings, grader
        self._probes: dict[str, dict[str, Probe]] = {}
        self._traces: dict[str, Traces] = {}
        self._known = KnownCauses()
        self.searches = 0
        self._left = settings.submission

    def begin(self) -> None:
        """Another submission, with all its time before it."""
        self._left = self._settings.submission

    def find(
        self,
        files: Mapping[str, bytes],
        exercise: str,
        ran: Iterable[Ran],
        names: tuple[str, ...],
        lent: tuple[str, ...] = (),
    ) -> FoundPlaces:
        """Places of a mistake of these names; where it has none, also of one beside a mistake of
        the bank. lent: the exercises that right ones stood in for while it ran"""
        wrong = self._wrong(files, exercise, tuple(ran), lent)
        seconds = min(self._settings.seconds, self._left)
        if self._settings.seconds <= 0 or not wrong.failing:
            return FoundPlaces()
        wrong = _without_unwritten(wrong)
        if not wrong.failing or any(r.report.verdict is Verdict.UNWRITTEN for r in wrong.failing):
            return FoundPlaces()
        stopped = _stopped(wrong)
        if any(r.report.verdict is Verdict.FORBIDDEN for r in wrong.failing):
            return FoundPlaces(stopped)
        found = self._known_or_searched(wrong, seconds, names)
        return found if found.lines else FoundPlaces((*found.places, *stopped), found.beside)

    def _wrong(
        self,
        files: Mapping[str, bytes],
        exercise: str,
        ran: tuple[Ran, ...],
        lent: tuple[str, ...],
    ) -> WrongExercise:
        """The exercise; what it uses of other exercises, or of what we gave, is not its own."""
        module = self._week.module
        wrong = WrongExercise(files, module, exercise, frozenset(), ran, lent=lent)
        right = self._grader.own(exercise).right()[:1] if wrong.failing else ()
        given = in_common(wrong.source, right[0]) if right else frozenset()
        others = given.union(e.name for e in self._week.exercises)
        read = parameters(right[0], exercise) - ignored(right[0], exercise) if right else None
        return replace(wrong, others=others, read=read or frozenset())

    def _known_or_searched(
        self, wrong: WrongExercise, seconds: float, names: tuple[str, ...]
    ) -> FoundPlaces:
        words = wording(wrong.source, wrong.exercise, wrong.others)
        rest = sorted((n, data) for n, data in wrong.files.items() if n != wrong.module)
        whole = hash((wording_of_module(wrong.source), *rest))
        cause = cause_of(wrong.exercise, words, wrong.failing, bool(names), whole)
        known = self._known.get(cause)
        if known is not None or seconds <= 0:
            return known or FoundPlaces()
        shared = self._known.get(cause, whole=False)
        bench = Bench(self._grader, wrong, seconds)
        found = self._searched(wrong, bench, names, shared)
        # a search that may have run out of time says nothing of where no mistake is
        if found.lines or bench.spent_share < _WHOLE:
            self._known.put(cause, found)
        return found

    def _searched(
        self,
        wrong: WrongExercise,
        bench: Bench,
        names: tuple[str, ...],
        shared: FoundPlaces | None,
    ) -> FoundPlaces:
        """Search one exercise; what is `shared` is tried first and needs no more if it holds."""
        with _nothing_collected():
            bench.begin()
            try:
                bank = None if names else self._grader.bank(wrong.exercise)
                probes = self._probes_of(wrong.exercise)
                hints = self._hints(wrong, bench, probes, names)
                if hints.all_told(names):
                    return _by_values(wrong, hints)
                told = {place for _, place in hints.named} if len(names) == 1 else ()

                def found_among(lines: frozenset[int]) -> FoundPlaces:
                    found = suspects(wrong, probes, bench, bank, hints, frozenset(told), lines)
                    if found.places and not found.beside and any(p.explains for p in found.places):
                        found = found._replace(beside=hints.betrayed)
                    return found if found.lines else _elsewhere(wrong, hints, found)

                if shared is not None:
                    found = found_among(frozenset(p.line for p in shared.lines))
                    if found.agrees(shared):
                        return found
                self.searches += 1
                return found_among(frozenset())
            finally:
                self._left -= bench.end()

    def _hints(
        self,
        wrong: WrongExercise,
        bench: Bench,
        probes: Mapping[str, Probe],
        names: tuple[str, ...],
    ) -> ValueHints:
        if wrong.exercise not in self._traces:
            own = self._grader.own(wrong.exercise)
            self._traces[wrong.exercise] = Traces(wrong.exercise, own)
        failed = [probes[n] for r in wrong.failing if (n := r.report.name) in probes]
        traces = self._traces[wrong.exercise]
        before = traces.own_seconds
        hints = traces.hints(wrong.source, wrong.others, bench.other, failed, names)
        bench.spare(traces.own_seconds - before)
        return hints

    def _probes_of(self, exercise: str) -> dict[str, Probe]:
        if exercise not in self._probes:
            self._probes[exercise] = {
                test: Probe(test, [(f, a) for f, a in steps if isinstance(a, tuple)])
                for test, steps in self._grader.recorded(exercise).items()
            }
        return self._probes[exercise]


def _without_unwritten(wrong: WrongExercise) -> WrongExercise:
    """The exercise without tests that stop in another one, which nobody wrote yet."""
    stopped = [r.report for r in wrong.failing if r.report.verdict is Verdict.UNWRITTEN]
    foreign = foreign_lines(wrong.source, wrong.exercise, wrong.others) if stopped else frozenset()
    apart = {report.name for report in stopped if report.line in foreign}
    return replace(wrong, ran=tuple(r for r in wrong.ran if r.report.name not in apart))


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """For a moment: Python looks for cycles among all that a warm engine holds, again and again."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def suspects(
    wrong: WrongExercise,
    probes: Mapping[str, Probe],
    bench: Bench,
    bank: Compared | None = None,
    hints: ValueHints = NO_HINTS,
    told: frozenset[Place] = frozenset(),
    among: frozenset[int] = frozenset(),
) -> FoundPlaces:
    """The places where a change makes all tests of the exercise pass.

    told: where the one mistake is, as values say. among: the only lines to try, if any are given
    """
    written = changes(wrong.source, wrong.exercise, wrong.others)
    if among:
        written = [c for c in written if c.line in among]
    lines = {r.report.line for r in wrong.failing if r.report.verdict is Verdict.CRASHED}
    stopped = (p for c in written for p in c.places if p[1] in lines)
    hot = hints.odd.union(stopped, (place for _, place in hints.named))
    written += wrappers(wrong.source, wrong.exercise, needed(wrong.failing, len(wrong.ran), probes))
    mended = _mended(written, probes, wrong, bench, bank, hints, told, hot)
    places = _places(wrong.module, mended, [written[n] for n in mended.numbers], hot)
    return FoundPlaces(places, mended.beside)


def _mended(
    written: list[Change],
    probes: Mapping[str, Probe],
    wrong: WrongExercise,
    bench: Bench,
    bank: Compared | None,
    hints: ValueHints,
    told: frozenset[Place],
    hot: frozenset[Place],
) -> Mended:
    failing = wrong.failing
    sharp = (_sharp(r, probes.get(r.report.name)) for r in failing)
    asked = sorted((p for p in sharp if p is not None), key=plainness)
    ways = ways_to_fail(failing)
    first = {ways[p.test]: p for p in reversed(asked)}
    asked = [*first.values(), *(p for p in asked if p not in first.values())]
    bench.shorten(asked)
    clues = Clues(failing, probes, hints)
    wraps = tuple(n for n, c in enumerate(written) if not c.line)
    return Search(
        wrong.exercise,
        written,
        clues.weight,
        failing,
        asked,
        len(first),
        bench,
        bank,
        told,
        hot,
        wraps,
        hints.agreed,
    ).mended()


def _places(
    module: str, mended: Mended, found: list[Change], hot: frozenset[Place]
) -> tuple[Suspect, ...]:
    """The places of changes; of one that mends in part wherever it stands, if values say so too."""
    places: dict[tuple[str, int, str], Suspect] = {}
    alone = not (mended.together or mended.beside or mended.counts)
    counts = mended.counts or (0,) * len(found)
    for number, change, count in zip(mended.numbers, found, counts, strict=False):
        nowhere = bool(count) and change.kind in ANYWHERE and hot.isdisjoint(change.places)
        doubtful = number in mended.doubtful or (count and change.kind in SAYS_LITTLE)
        kind = WHATEVER if doubtful else change.kind
        for line in (0,) if nowhere else (change.line, *change.more):
            place = Suspect(module, line, change.function, kind, alone, count)
            places.setdefault((change.function, line, "" if line else kind), place)
    return tuple(places.values())


def _elsewhere(wrong: WrongExercise, hints: ValueHints, found: FoundPlaces) -> FoundPlaces:
    """What was found without a line, with lines that values tell, or where code stops."""
    by_values = _by_values(wrong, hints)
    lines = by_values.places or _stops(wrong, hints)
    beside = found.beside or (() if found.places else by_values.beside)
    unread = ignored(wrong.source, wrong.exercise) & wrong.read
    nowhere = Suspect(wrong.module, 0, wrong.exercise, IGNORED, False)
    named = (nowhere,) if unread and unread < wrong.read else ()  # or nothing is written yet
    return FoundPlaces((*found.places, *lines, *named), beside)


def _by_values(wrong: WrongExercise, hints: ValueHints) -> FoundPlaces:
    """The lines that make what the named mistakes make; where none is named, one that is seen.

    What is seen of a mistake may be seen long after it was made: so no line is told with it.
    """
    if not hints.named:
        return FoundPlaces((), hints.betrayed)
    alone = len(hints.named) == 1
    made = [p for p in hints.agreed if p[0].endswith(".__init__")]  # what the object keeps
    lines = [*(place for _, place in hints.named), *made]
    shown = [Suspect(wrong.module, n, name, SHOWN, alone) for name, n in lines]
    return FoundPlaces(tuple({p.line: p for p in shown}.values()))


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
    return replace(probe, within=within)


def _stops(wrong: WrongExercise, hints: ValueHints) -> tuple[Suspect, ...]:
    """The lines at which much of it stops; if they say so by themselves, or values do."""
    foreign = foreign_lines(wrong.source, wrong.exercise, wrong.others)
    return stops(wrong.source, wrong.module, wrong.failing, foreign, hints.odd)


def _stopped(wrong: WrongExercise) -> tuple[Suspect, ...]:
    """Where the code itself stopped, if all that fails stopped in one place."""
    places = {(r.report.line, r.report.verdict) for r in wrong.failing}
    if len(places) != 1:
        return ()
    line, verdict = places.pop()
    if not line or verdict not in _STOPPED:
        return ()
    if line in foreign_lines(wrong.source, wrong.exercise, wrong.others):
        return ()
    return (Suspect(wrong.module, line, wrong.exercise, verdict.value),)
