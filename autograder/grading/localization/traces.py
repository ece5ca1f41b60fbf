"""Find the lines where the values of a wrong program deviate from those of correct programs.

A version of the program that records its values (`repair/instrumentation.py`) replays the requests
of a failed test. The solution and its alternatives replay the same requests outside the sandbox. An
expression deviates if no correct program computes its value, and the mistake first shows in a
deviating expression whose parts are all correct. If the diagnosis has named a misconception, the
bank's program for this misconception is traced too, to find the wrong value. The student's
mistake is on the line that computes the same wrong value, even if the code looks different.

A submission can forge its recorded rows, so a wrong row only selects a line of the submission
itself. It cannot forge the rows of correct values without computing them, so these show work.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from ...model.availability import AXES, CPU
from ...model.report.schema import axes_of, in_low_precision
from ...repair.instrumentation import TracedProgram
from ..targets.in_process import Target
from .candidate_runner import Probe
from .traced_runs import Place, Replay, RightValues, TracedRun, record, traced
from .value_rows import permuted

_PROGRAMS_TRACED = 6  # correct programs of an exercise to trace
_PROBES_TRACED = 2  # failed tests to trace if the diagnosis named a misconception
_PROBES_TRACED_UNNAMED = 5
_TESTS_AGREEING = 2  # tests that must deviate at the same place, because one test proves little

_REAL_DEVICES = {a.name for a in AXES.values() if not a.claimed and a.name != CPU}


@dataclass(frozen=True)
class ValueHints:
    """The places of mistakes that recorded values point to.

    odd: places where values first deviate
    named: the named misconceptions, each with the place that computes its wrong value
    first: the place of the first deviation in each test
    uncertain: first deviations that a line which computes known values may cause
    shares: for each test that tells, the share of a correct program's steps in the submission
    """

    odd: frozenset[Place] = frozenset()
    named: tuple[tuple[str, Place], ...] = ()
    first: tuple[Place, ...] = ()
    uncertain: frozenset[Place] = frozenset()
    shares: tuple[float, ...] = ()

    @property
    def agreed(self) -> frozenset[Place]:
        """The place where several tests first deviate, or an empty set if they do not agree."""
        places = frozenset(self.first)
        return places if len(places) == 1 and len(self.first) >= _TESTS_AGREEING else frozenset()

    @property
    def located(self) -> dict[str, Place]:
        """The places of named misconceptions, without those that first deviations contradict.

        An uncertain place counts only if several tests first deviate there.
        """
        known = ({*self.first} - self.uncertain) | self.agreed
        return {n: place for n, place in self.named if not self.first or place in known}

    @property
    def certain(self) -> frozenset[Place]:
        """The place on which tests agree if no other line may cause the deviation there."""
        return self.agreed - self.uncertain

    def is_located(self, names: Sequence[str]) -> bool:
        """Return True if only one misconception is named and its place is a first deviation.

        Always return False if any first deviation is in a constructor.
        """
        in_constructor = any(name.endswith(".__init__") for name, _ in self.first)
        if len(names) != 1 or len(self.named) != 1 or in_constructor:
            return False
        return self.named[0][1] in self.first and len(self.located) == 1

    def joined(self, other: ValueHints) -> ValueHints:
        """Combine the hints of two tests."""
        named = {**dict(other.named), **dict(self.named)}
        first, uncertain = (*self.first, *other.first), self.uncertain | other.uncertain
        shares = (*self.shares, *other.shares)
        return ValueHints(self.odd | other.odd, tuple(named.items()), first, uncertain, shares)


NO_HINTS = ValueHints()


class Traces:
    """The recorded runs of correct and wrong programs of one exercise.

    right:       the sources of correct programs, the solution first
    wrong:       returns the source of a misconception, given its name
    target:      loads a source in this process
    own_seconds: the processor time of runs that all submissions share
    """

    def __init__(
        self,
        exercise: str,
        right: Sequence[str],
        wrong: Callable[[str], str],
        target: Callable[[str], Target],
    ) -> None:
        self._exercise, self._target = exercise, target
        self._right_sources, self._wrong_source = right[:_PROGRAMS_TRACED], wrong
        self._right: dict[str, RightValues | None] = {}
        self._wrong: dict[tuple[str, str], TracedRun | None] = {}
        self.own_seconds = 0.0

    def hints(
        self,
        source: str,
        foreign: frozenset[str],
        load: Callable[[bytes], Target],
        probes: Iterable[Probe],
        names: Sequence[str],
    ) -> ValueHints:
        """Trace a submission in some of its failed tests, and return the places found.

        foreign: names of definitions that belong to other exercises or to the course
        load:    load a source in the sandbox
        probes:  the probes of the failed tests
        names:   the misconceptions that the diagnosis found
        """
        found, program = NO_HINTS, traced(source, self._exercise, foreign)
        if program is None:
            return found
        target = load(program.source.encode())
        count = _PROBES_TRACED if names else _PROBES_TRACED_UNNAMED
        for probe in informative_probes(probes, count):
            run = record(program, target, probe.replay)
            if run is None:  # the next test would probably fail too
                break
            if probe.test not in self._right:
                self._right[probe.test] = self.right_values(probe.replay)
            right = self._right[probe.test]
            if right is not None and len((run := right.compared(run)).rows):
                found = found.joined(self._hints_of(run, probe, names, right))
            if found.is_located(names):
                break
        return found

    def _hints_of(
        self, run: TracedRun, probe: Probe, names: Sequence[str], right: RightValues
    ) -> ValueHints:
        places = [run.place(row) for row in run.deviations[:2]]
        named = []
        for name in names:
            reference = self._misconception_run(name, probe, right)
            if reference is not None:
                place = run.place_of_mistake(reference, self._right_programs[0][0])
                named += [(name, place)] if place is not None else []
        uncertain = (
            run.place(r)
            for r in run.deviations[:1]
            if run.is_uncertain(r)
            or (not (named or run.node(r).returned) and permuted(run.rows[r], right.rows).any())
        )
        share, first = right.share_computed_by(run), tuple(places[:1])
        shares = () if share is None else (share,)
        return ValueHints(frozenset(places), tuple(named), first, frozenset(uncertain), shares)

    def right_values(self, replay: Replay) -> RightValues | None:
        """Return the values that correct programs compute in the replayed calls, or None."""
        began = time.thread_time()
        recorded = (record(*program, replay) for program in self._right_programs)
        runs = [run for run in recorded if run is not None]
        self.own_seconds += time.thread_time() - began
        return RightValues(runs) if runs else None

    @cached_property
    def _right_programs(self) -> list[tuple[TracedProgram, Target]]:
        programs = (traced(source, self._exercise) for source in self._right_sources)
        return [(p, self._target(p.source)) for p in programs if p is not None]

    def _misconception_run(self, name: str, probe: Probe, right: RightValues) -> TracedRun | None:
        key = name, probe.test
        if key not in self._wrong:
            began = time.thread_time()
            program = traced(self._wrong_source(name), self._exercise)
            target = None if program is None else self._target(program.source)
            run = program and target and record(program, target, probe.replay)
            self._wrong[key] = right.compared(run) if run else None
            self.own_seconds += time.thread_time() - began
        return self._wrong[key]


def is_on_real_device(test: str) -> bool:
    """Return True if the axes of a test name a device other than the CPU and the simulated GPU."""
    return not _REAL_DEVICES.isdisjoint(axes_of(test).split("-"))


def informative_probes(probes: Iterable[Probe], count: int) -> list[Probe]:
    """Return at most `count` probes to trace; half precision and fake devices come last.

    Tests that end with an exception are left out. So are tests on a real GPU, because a
    misconception could make the GPU unusable for this process.
    """

    def rank(probe: Probe) -> tuple[bool, bool]:
        halves = in_low_precision(probe.test) or "half" in probe.test
        return halves, "fake" in probe.test

    answered = (p for p in probes if p.steps and p.steps[-1][1][0].raised is None)
    here = (p for p in answered if not is_on_real_device(p.test))
    return sorted(here, key=rank)[:count]
