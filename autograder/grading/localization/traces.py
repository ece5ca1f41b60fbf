"""Find where the values of a wrong program deviate from right ones.

Theory of operation. A version of the program that records its values (`repair/instrumentation.py`)
answers the requests of a failed test. They are compared with the values of the solution and its
alternatives for the same requests, which run outside of the sandbox and never enter it.
An expression deviates if no right program has its value; the mistake shows where all parts of
the expression are right. If a misconception has a name, the bank's program for it shows
which value the mistake produces, and the line that produces this value is the student's mistake,
however it is written.

A submission can record anything. The rows are only used to choose a place in its own text.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...model.device_axes import AXES, CPU
from ...model.report.schema import axes_of, in_low_precision
from ...repair import UNPARSABLE
from ...repair.instrumentation import TracedProgram, statements, trace_program
from ...repair.trace_recorder import NODE, WIDTH
from ..diagnosis.probes import Probe
from ..targets.in_process import Target
from .trace_values import record
from .traced_runs import Place, RightValues, TracedRun
from .tuning import (
    COMMON_STATEMENT,
    PROBES_TRACED,
    PROBES_TRACED_UNNAMED,
    PROGRAMS_TRACED,
    TESTS_AGREEING,
)
from .value_matching import locate_misconception

_REAL_DEVICES = {a.name for a in AXES.values() if not a.claimed and a.name != CPU}


@dataclass(frozen=True)
class ReferencePrograms:
    """The course's own programs for an exercise.

    right: the sources of right programs, the solution first
    names: the misconceptions of the bank
    wrong: the source of a misconception
    target: load a source in this process
    """

    right: Callable[[], Sequence[str]]
    names: Sequence[str]
    wrong: Callable[[str], str]
    target: Callable[[str], Target]


@dataclass(frozen=True)
class ValueHints:
    """Hints of recorded values about lines.

    odd: lines where values first deviate
    right: lines whose values are all right
    named: for each named misconception, the line that produces its value
    ran: lines of which any value was recorded
    first: for each test, the place of the first deviation
    """

    odd: frozenset[Place] = frozenset()
    right: frozenset[Place] = frozenset()
    named: tuple[tuple[str, Place], ...] = ()
    ran: frozenset[Place] = frozenset()
    first: tuple[Place, ...] = ()

    @property
    def agreed(self) -> frozenset[Place]:
        """The place of the first deviation, if several tests agree on it."""
        places = frozenset(self.first)
        return places if len(places) == 1 and len(self.first) >= TESTS_AGREEING else frozenset()

    def is_located(self, names: Sequence[str]) -> bool:
        """Return True if the only mistake is located and further tests would add nothing."""
        in_constructor = any(name.endswith(".__init__") for name, _ in self.first)
        if len(names) != 1 or len(self.named) != 1 or in_constructor:
            return False
        return self.named[0][1] in self.first

    def joined(self, other: ValueHints) -> ValueHints:
        """Combine the hints of two tests."""
        odd, ran = self.odd | other.odd, self.ran | other.ran
        wrong = (self.ran - self.right) | (other.ran - other.right) | odd
        named = {**dict(other.named), **dict(self.named)}
        return ValueHints(
            odd,
            (self.right | other.right) - wrong,
            tuple(named.items()),
            ran,
            (*self.first, *other.first),
        )


NO_HINTS = ValueHints()


class Traces:
    """The recorded runs of right and wrong programs in the tests of one exercise."""

    def __init__(self, exercise: str, own: ReferencePrograms) -> None:
        self._exercise, self._own = exercise, own
        self._right: dict[str, RightValues] = {}
        self._wrong: dict[tuple[str, str], TracedRun | None] = {}
        self.own_seconds = 0.0  # processor time that was spent once for the whole class

    def hints(
        self,
        source: str,
        foreign: frozenset[str],
        load: Callable[[str], Target],
        probes: Iterable[Probe],
        names: Sequence[str],
    ) -> ValueHints:
        """Trace a submission in some of its failed tests.

        foreign: definitions that are not its own. load: runs a source in the sandbox
        probes: of the failed tests. names: the misconceptions that the diagnosis found
        """
        try:
            program = trace_program(source, [self._exercise], foreign)
        except UNPARSABLE:
            return NO_HINTS
        found = NO_HINTS
        target = load(program.source)
        count = PROBES_TRACED if names else PROBES_TRACED_UNNAMED
        for probe in informative_probes(probes, count):
            rows = record(target, self._exercise, probe)
            if rows is None:  # it did not end: the next one would not end either
                break
            with self._shared_time():
                right = self._right_values(probe)
            rows = right.comparable(rows)
            if not len(rows):
                continue
            run = TracedRun(program, rows)
            run.judge(right, self._exercise)
            found = found.joined(self._hints_of(run, probe, names, right))
            if found.is_located(names):
                break
        return found

    @contextmanager
    def _shared_time(self) -> Iterator[None]:
        began = time.thread_time()
        try:
            yield
        finally:
            self.own_seconds += time.thread_time() - began

    def _hints_of(
        self, run: TracedRun, probe: Probe, names: Sequence[str], right: RightValues
    ) -> ValueHints:
        """Compare one recorded run with right programs and with misconceptions."""
        lines: dict[Place, bool] = {}
        large = set[Place]()
        for row in run.first.values():
            place = run.place(row)
            lines[place] = lines.get(place, True) and bool(run.same[row])
            if run.is_large(row):
                large.add(place)
        deviations = [r for r in run.deviations if right.is_expected(run.rows[r])]
        odd = frozenset(p for row in deviations[:2] for p in _places_of(run, row, right))
        named = []
        for name in names:
            with self._shared_time():
                reference = self._misconception_run(name, probe, right)
            place_of = locate_misconception(run, reference) if reference is not None else None
            if place_of is not None:
                named.append((name, place_of))
        rights = frozenset(p for p, fine in lines.items() if fine and p in large) - odd
        first = tuple(map(run.place, deviations[:1]))
        return ValueHints(odd, rights, tuple(named), frozenset(lines), first)

    def _right_values(self, probe: Probe) -> RightValues:
        if probe.test not in self._right:
            rows: list[np.ndarray] = []
            returned: list[np.ndarray] = []
            uses: set[tuple[int, str]] = set()
            for program, target in self._right_programs:
                recorded = record(target, self._exercise, probe)
                if recorded is None:
                    continue
                start = sum(map(len, rows))
                by_node: dict[int, list[int]] = {}
                for place, row in enumerate(recorded):
                    by_node.setdefault(int(row[NODE]), []).append(start + place)
                for number, node in enumerate(program.nodes):
                    if number in by_node:
                        uses |= {(r, node.head) for p in node.parts for r in by_node.get(p, ())}
                rows.append(recorded)
                returned.append(TracedRun(program, recorded).returned(self._exercise))
            empty = np.empty((0, WIDTH))
            every, results = (np.concatenate(x) if x else empty for x in (rows, returned))
            self._right[probe.test] = RightValues(every, results, frozenset(uses))
        return self._right[probe.test]

    @cached_property
    def _right_programs(self) -> list[tuple[TracedProgram, Target]]:
        found = []
        for source in self._own.right()[:PROGRAMS_TRACED]:
            with suppress(*UNPARSABLE):
                program = trace_program(source, [self._exercise])
                found.append((program, self._own.target(program.source)))
        return found

    def _misconception_run(self, name: str, probe: Probe, right: RightValues) -> TracedRun | None:
        key = name, probe.test
        if key not in self._wrong:
            self._wrong[key] = None
            try:
                program = trace_program(self._own.wrong(name), [self._exercise])
            except UNPARSABLE:
                return None
            target = self._own.target(program.source)
            rows = record(target, self._exercise, probe)
            rows = None if rows is None else right.comparable(rows)
            if rows is not None and len(rows):
                self._wrong[key] = self._compared_with_solution(TracedRun(program, rows), right)
        return self._wrong[key]

    def _compared_with_solution(self, run: TracedRun, right: RightValues) -> TracedRun:
        """Judge a misconception's run, and note which of its statements right code lacks."""
        run.judge(right, self._exercise)
        solution = self._right_programs[0][0] if self._right_programs else None
        expected = solution.statements if solution else []
        own = run.program.statements
        run.changed = frozenset(
            number
            for number, text in enumerate(own)
            if text and text not in expected and text not in self._common_statements
        )
        run.lacks_statements = sum(map(bool, own)) < sum(map(bool, expected))
        return run

    @cached_property
    def _common_statements(self) -> frozenset[str]:
        """The statements of many misconceptions: a matter of style."""
        right = self._own.right()
        times = Counter[str]()
        for name in self._own.names:
            text = self._own.wrong(name).removeprefix(right[0] if right else "")
            with suppress(*UNPARSABLE):
                times.update(set(statements(text)))
        return frozenset(s for s, count in times.items() if count >= COMMON_STATEMENT)


def _places_of(run: TracedRun, row: int, right: RightValues) -> list[Place]:
    """Return the place of a deviation; before it, places of parts that right programs use
    differently, because a step may be missing between them."""
    head, places = run.node(row).head, []
    for part in run.node(row).parts:
        at = run.first.get(part)
        if at is None or not run.is_large(at) or not run.nodes[part].is_name:
            continue
        made = run.first_row_of(run.rows[at])
        if made is not None and not right.are_used_by(run.rows[at], head):
            places.append(run.place(made))
    return [*places, run.place(row)]


def informative_probes(probes: Iterable[Probe], count: int) -> list[Probe]:
    """Choose failed tests: simple ones before half precision and claimed devices.

    Tests on a real GPU are left out, because a misconception could break the GPU for this process.
    """

    def rank(probe: Probe) -> tuple[bool, bool]:
        halves = in_low_precision(probe.test) or "half" in probe.test
        return halves, "fake" in probe.test

    answered = (p for p in probes if p.steps and p.steps[-1][1][0].raised is None)
    here = (p for p in answered if _REAL_DEVICES.isdisjoint(axes_of(p.test).split("-")))
    return sorted(here, key=rank)[:count]
