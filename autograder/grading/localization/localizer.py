"""Locate the mistakes of a wrong exercise with traced values and with edits that fix tests.

Edited versions of the submission run in the same kind of sandbox as the submission, one after the
other in one process. If a version hangs or exceeds its limits, its process ends, and the next
version runs in a new process. A submission can falsify only the lines reported for it, because
verdicts and points are already decided, and a finding for one submission is never used for another.
The text of an edit is never shown.

`repair_search` selects the versions to run. A complete fix makes all hidden tests of the exercise
pass.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from statistics import mean

from ...model.course import Suspects
from ...model.report.findings import SHOWN, WHATEVER
from ...model.report.schema import Suspect, Verdict
from ...repair import foreign_lines, generate_edits
from ..comparator import FAR
from ..running.pytest_plugin import Ran
from ..running.test_runner import Load, Runs
from .candidate_runner import CandidateRunner, Probe, ReferenceAnswer, WrongExercise
from .declarations import attribute_places, declaration_places
from .distinctive_code import WORD, DistinctiveCode
from .repair_search import ANYWHERE, SAYS_LITTLE, SPECIFIC, Fix, Search, ordered_probes
from .reply_evidence import reply_places
from .traced_runs import Place
from .traces import Traces, ValueHints

_CLOSER = 0.25  # largest distance of a fixed answer, relative to the wrong answer's distance
_BARELY_WRONG = 1e-4  # a smaller tolerance cannot separate wrong answers from correct ones

Places = tuple[Suspect, ...]  # line 0: the line is unknown, but the kind of mistake is known


def lines_of(places: Places) -> tuple[Suspect, ...]:
    """Return the places with a known line."""
    return tuple(p for p in places if p.line)


class LineFinder:
    """Finds the lines of mistakes in the wrong exercises of a week, within time budgets.

    load:   loads a submission's files, with correct versions of the named exercises
    traces: returns the recorded runs of an exercise
    fixed:  the tests that pass with one of the edits that `find` reported last, if none fixes all
    computed: the share of a correct program's steps that the submission computes, in the tests that
              `find` traced last
    """

    def __init__(
        self, runs: Runs, settings: Suspects, load: Load, traces: Callable[[str], Traces]
    ) -> None:
        self._runs, self._settings, self._load, self._traces = runs, settings, load, traces
        self._probes_of = cache(self._recorded_probes)
        self._distinctive = cache(self._distinctive_code)
        self._left = settings.submission
        self.fixed, self.computed = frozenset[str](), 0.0
        self._found = frozenset[Place]()  # the places of mistakes in earlier exercises

    def begin(self) -> None:
        """Start a new submission with its full time budget."""
        self._left, self._found = self._settings.submission, frozenset()

    def find(
        self,
        files: Mapping[str, bytes],
        exercise: str,
        ran: Iterable[Ran],
        names: tuple[str, ...],
        stubbed: tuple[str, ...] = (),
        explained: bool = True,
    ) -> Places:
        """Return the places of an exercise's mistakes, or () if none is found.

        ran: the results of the exercise's hidden tests
        names: the misconceptions that the diagnosis found
        stubbed: other exercises that were replaced by correct versions while the tests ran
        explained: True if these misconceptions explain all failures, so that their values suffice
                   to locate them
        """
        self.fixed, self.computed = frozenset(), 0.0
        foreign = self._runs.foreign(files)
        wrong = WrongExercise(files, self._runs.week.module, exercise, foreign, tuple(ran), stubbed)
        seconds = min(self._settings.seconds, self._left)
        if self._settings.seconds <= 0 or not wrong.failing:
            return ()
        wrong = without_unwritten(wrong)
        verdicts = {r.report.verdict for r in wrong.failing}
        if not wrong.failing or Verdict.UNWRITTEN in verdicts:
            return ()
        stopped = _stopping_line(wrong)
        if any(v.breaks_a_rule for v in verdicts):
            return stopped
        declared = declaration_places(wrong, self._runs.bank.solution)
        named = [m for m in self._runs.bank.of_exercise(exercise) if m.name in names]
        by_code: Places = ()
        if not declared and explained and len(names) == len(named) == 1:
            size, by_code = self._distinctive(exercise).smallest(wrong, named[0].source)
            declared = attribute_places(wrong, named[0].source)
            declared = declared or (by_code if size == WORD else ())
        if declared and all(place.alone for place in declared):
            return declared
        found = self._searched(wrong, seconds, names, explained)
        found = (*declared, *found)
        self._found |= {(p.function, p.line) for p in lines_of(found) if p.alone}
        if lines_of(found):
            return found
        found = (*found, *(stopped or reply_places(wrong, self._probes_of(exercise))))
        return found if lines_of(found) else (*found, *by_code)

    def _searched(
        self, wrong: WrongExercise, seconds: float, names: tuple[str, ...], explained: bool
    ) -> Places:
        runner = CandidateRunner(self._runs, self._load, wrong, seconds)
        try:
            probes, traces = self._probes_of(wrong.exercise), self._traces(wrong.exercise)
            failed = [probes[n] for r in wrong.failing if (n := r.report.name) in probes]
            before = traces.own_seconds
            hints = traces.hints(wrong.source, wrong.foreign, runner.load, failed, names)
            runner.exclude(traces.own_seconds - before)
            self.computed = mean(hints.shares or [0.0])
            if seconds <= 0 or (explained and hints.is_located(names)):
                return _places_by_values(wrong, hints)
            # Exercises that share a function share its mistakes, so try the same lines early.
            hints = replace(hints, odd=hints.odd | self._found)
            places, self.fixed = _find_places(wrong, probes, runner, hints, names)
            return places
        finally:
            self._left -= runner.end()

    def _distinctive_code(self, exercise: str) -> DistinctiveCode:
        return DistinctiveCode(exercise, self._runs.bank.correct_sources(exercise))

    def _recorded_probes(self, exercise: str) -> dict[str, Probe]:
        recorded = self._runs.recorded(exercise).items()
        return {
            t: Probe(t, [(f, a) for f, a in steps if isinstance(a, tuple)]) for t, steps in recorded
        }


def without_unwritten(wrong: WrongExercise) -> WrongExercise:
    """Return a copy without the tests that stop in a different, unwritten exercise."""
    stopped = [r.report for r in wrong.failing if r.report.verdict is Verdict.UNWRITTEN]
    foreign = foreign_lines(wrong.source, wrong.exercise, wrong.foreign) if stopped else frozenset()
    apart = {report.name for report in stopped if report.line in foreign}
    return replace(wrong, ran=tuple(r for r in wrong.ran if r.report.name not in apart))


def _find_places(
    wrong: WrongExercise,
    probes: Mapping[str, Probe],
    runner: CandidateRunner,
    hints: ValueHints,
    names: tuple[str, ...],
) -> tuple[Places, frozenset[str]]:
    """Return the places of edits that make tests pass, and the tests if they are not all.

    If no edit determines a line, add the lines that traced values point to.
    """
    edits = generate_edits(wrong.source, wrong.exercise, wrong.foreign)
    sharp = {r.report.name: _sharpened(r, probes.get(r.report.name)) for r in wrong.failing}
    asked = ordered_probes(wrong.failing, {t: p for t, p in sharp.items() if p is not None})
    runner.shorten(asked.probes)
    located = frozenset(hints.located.values()) if len(names) == 1 else frozenset()
    search = Search(wrong.exercise, edits, wrong.failing, asked, runner, hints, located)
    fixes = search.fixes()
    places = _places(wrong.module, fixes, search.suspicious)
    certain = frozenset() if hints.named else hints.certain
    is_contradicted = certain and all(
        certain.isdisjoint(f.edit.places) and f.edit.kind not in SPECIFIC for f in fixes
    )
    if is_contradicted:
        return _places_by_values(wrong, hints), frozenset()
    if not lines_of(places):
        places = (*places, *_places_by_values(wrong, hints))
    return places, frozenset[str]().union(*(fix.tests for fix in fixes))


def _places(module: str, fixes: Iterable[Fix], suspicious: frozenset[Place]) -> Places:
    """Return the places of fixes.

    The line is 0 for an edit that fixes only some tests and is of a kind that works on any line,
    unless the edited line is suspicious.
    """
    places: dict[tuple[str, int, str], Suspect] = {}
    for edit, tests, ambiguous in fixes:
        count = len(tests)
        nowhere = bool(count) and edit.kind in ANYWHERE and suspicious.isdisjoint(edit.places)
        doubtful = ambiguous or (count and edit.kind in SAYS_LITTLE)
        kind = WHATEVER if doubtful else edit.kind
        for line in (0,) if nowhere else (edit.line, *edit.more):
            place = Suspect(module, line, edit.function, kind, not count, count)
            places.setdefault((edit.function, line, "" if line else kind), place)
    return tuple(places.values())


def _places_by_values(wrong: WrongExercise, hints: ValueHints) -> Places:
    """Return the lines that compute the wrong values of the named misconceptions.

    Include a constructor line on which tests agree. If no misconception was located, return the
    line on which tests agree, if there is one, and the line of the only misconception.
    """
    alone = len(hints.located) == 1
    agreed = (p for p in hints.certain if not hints.located or p[0].endswith(".__init__"))
    named = dict(hints.named) if hints.certain and len(hints.named) == 1 else hints.located
    lines = [*named.values(), *agreed]
    shown = [Suspect(wrong.module, n, name, SHOWN, alone) for name, n in lines]
    return tuple({p.line: p for p in shown}.values())


def _sharpened(failed: Ran, probe: Probe | None) -> Probe | None:
    """Return a copy of the probe whose tolerance is small enough to reject the student's answer.

    Return None if there is no probe, or if the student's answer is too close to the correct one.
    """
    if probe is None or not probe.steps:
        return None
    index = len(failed.answers) - 1
    last = failed.answers[index] if failed.answers else None
    within = 1.0
    if isinstance(last, tuple) and index < len(probe.steps):
        gap = ReferenceAnswer(probe.steps[index][1]).distance(last)
        within = min(1.0, _CLOSER * gap) if gap < FAR else 1.0
    if within < _BARELY_WRONG:
        return None
    return replace(probe, within=within)


def _stopping_line(wrong: WrongExercise) -> Places:
    """Return the exercise's line at which all failed tests stop with the same verdict, or ()."""
    places = {(r.report.line, r.report.verdict) for r in wrong.failing}
    if len(places) != 1:
        return ()
    line, verdict = places.pop()
    if not line or not verdict.at_line:
        return ()
    if line in foreign_lines(wrong.source, wrong.exercise, wrong.foreign):
        return ()
    return (Suspect(wrong.module, line, wrong.exercise, verdict.value),)
