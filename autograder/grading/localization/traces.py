"""Where a wrong program's values leave those of right ones, expression by expression.

Theory of operation. A version of the program that notes its values (`repair/instrumentation.py`) is
asked what a failed test asks. What it noted is compared with what the solution and its alternatives
noted on the same questions, which are run outside of the sandbox: nothing of them goes in. An
expression is odd if no right program has its value; it is where the mistake shows if all that it is
made of is right. Where a misconception has a name, its own program tells which value its mistake
makes: the line that makes it is the student's mistake, in whatever words.

Nothing is believed of what was noted but a place in the student's own text.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...model.device_axes import AXES, CPU
from ...model.report.schema import axes_of, in_low_precision
from ...repair import NO_PYTHON
from ...repair.instrumentation import COUNT, NODE, WIDTH, Traced, statements, traced
from ..diagnosis.probes import Probe
from ..targets.in_process import Target
from .reference_traces import OwnNotes
from .trace_values import noted
from .traced_runs import Place, RightValues, TracedRun, betrays, made_alike, maker

_REAL = {a.name for a in AXES.values() if not a.claimed and a.name != CPU}
_MOST_PROGRAMS = 6
_MOST_OWN = 2.0  # seconds for misconceptions that no submission had yet, in one search
_LOOKED_AT = 2  # probes
_LOOKED_FOR_A_NAME = 5  # where there is none
_LEAST_SEEN, _MOSTLY_SEEN = 2, 0.5
_MOST_NAMES = 2
_COMMON = 4  # programs with the same statement: more than make the same mistake in the same words


@dataclass(frozen=True)
class OwnPrograms:
    """What a search may ask of our own code.

    right: the sources of right programs. names: of the misconceptions. wrong: the source of one
    target: where a source runs. notes: what traced ones noted before
    """

    right: Callable[[], Sequence[str]]
    names: Sequence[str]
    wrong: Callable[[str], str]
    target: Callable[[str], Target]
    notes: OwnNotes


class Likely(NamedTuple):
    """A misconception: in how many tests its values were seen, of those that could show it, and in
    which expressions of the submission."""

    name: str
    seen: int
    could: int
    nodes: frozenset[int]

    def joined(self, other: Likely) -> Likely:
        """Both tests' evidence for one misconception."""
        seen, could = self.seen + other.seen, self.could + other.could
        return Likely(self.name, seen, could, self.nodes | other.nodes)


@dataclass(frozen=True)
class ValueHints:
    """odd: lines where values first leave the right ones. right: lines whose values all are right.
    named: lines that make what a named mistake makes, by its name. ran: lines of which any ran.
    likely: where no name was given, the mistakes of which the very value was seen in a test.
    first: in each test, where the first value is that leaves the right ones."""

    odd: frozenset[Place] = frozenset()
    right: frozenset[Place] = frozenset()
    named: tuple[tuple[str, Place], ...] = ()
    ran: frozenset[Place] = frozenset()
    likely: tuple[Likely, ...] = ()
    first: tuple[Place, ...] = ()

    @property
    def agreed(self) -> frozenset[Place]:
        """Where the first value is that leaves the right ones, if tests agree on one place."""
        places = frozenset(self.first)
        return places if len(places) == 1 and len(self.first) >= _LEAST_SEEN else frozenset()

    def all_told(self, names: Sequence[str]) -> bool:
        """Whether the line is known of the one mistake that there is: what makes its value there is
        the first to leave the right ones, and no other test would add to that."""
        within = any(name.endswith(".__init__") for name, _ in self.first)  # do tests agree on it?
        return len(names) == len(self.named) == 1 and self.named[0][1] in self.first and not within

    @property
    def betrayed(self) -> tuple[str, ...]:
        """The names of mistakes whose values were seen in most tests that could show them; of
        several that are seen in one expression that which is seen in most."""
        enough = [
            x for x in self.likely if x.seen >= _LEAST_SEEN and x.seen >= _MOSTLY_SEEN * x.could
        ]
        alone = [
            x
            for x in enough
            if all(x is y or x.seen > y.seen or x.nodes.isdisjoint(y.nodes) for y in enough)
        ]
        return tuple(x.name for x in sorted(alone, key=lambda x: -x.seen)[:_MOST_NAMES])


NO_HINTS = ValueHints()


class Traces:
    """Of one exercise: what right programs noted in its tests, and what wrong ones note."""

    def __init__(self, exercise: str, own: OwnPrograms) -> None:
        self._exercise, self._own = exercise, own
        self._right: dict[str, RightValues] = {}
        self._wrong: dict[tuple[str, str], TracedRun | None] = {}
        self._programs: list[tuple[Traced, Target]] | None = None
        self.own_seconds = 0.0  # of processor time, for what is once for a class

    def hints(
        self,
        source: str,
        others: frozenset[str],
        load: Callable[[str], Target],
        probes: Iterable[Probe],
        names: Sequence[str],
    ) -> ValueHints:
        """What tracing a submission says of where its mistake is."""
        try:
            program = traced(source, [self._exercise], others)
        except NO_PYTHON:
            return NO_HINTS
        found = NO_HINTS
        target = load(program.source)
        for probe in _telling(probes, _LOOKED_AT if names else _LOOKED_FOR_A_NAME):
            rows = noted(target, self._exercise, probe)
            if rows is None:  # it came to no end: the next would not either, and waiting costs
                break
            with self._on_us():
                right = self._right_values(probe)
            rows = right.comparable(rows)
            if not len(rows):
                continue
            seen = TracedRun(program, rows)
            seen.judge(right, self._exercise)
            found = _joined(found, self._read(seen, probe, names, right))
            if found.all_told(names):
                break
        return found

    @contextmanager
    def _on_us(self) -> Iterator[None]:
        began = time.thread_time()
        try:
            yield
        finally:
            self.own_seconds += time.thread_time() - began

    def _read(
        self,
        seen: TracedRun,
        probe: Probe,
        names: Sequence[str],
        right: RightValues,
    ) -> ValueHints:
        lines: dict[Place, bool] = {}
        large = set[Place]()
        for row in seen.first().values():
            place = seen.place(row)
            lines[place] = lines.get(place, True) and bool(seen.same[row])
            if seen.rows[row, COUNT] > 1:
                large.add(place)
        odd: list[Place] = []
        culprits = [r for r in seen.culprits() if right.asks_for(seen.rows[r])]
        for row in culprits[:2]:
            odd += self._where(seen, row, right)
        first = tuple(map(seen.place, culprits[:1]))
        named = []
        for name in names:
            with self._on_us():
                theirs = self._wrong_run(name, probe, right)
            if theirs is None:
                continue
            made = made_alike(seen, theirs, right)
            if made is not None:
                named.append((name, made))
        rights = frozenset(p for p, fine in lines.items() if fine and p in large) - set(odd)
        likely = () if names else self._betrayed(seen, probe, right)
        return ValueHints(frozenset(odd), rights, tuple(named), frozenset(lines), likely, first)

    def _betrayed(self, seen: TracedRun, probe: Probe, right: RightValues) -> tuple[Likely, ...]:
        """The mistakes of the bank that could be seen in a test, and whether they were."""
        if not seen.culprits():
            return ()
        found = []
        began = self.own_seconds
        for name in self._own.names:
            with self._on_us():
                if (name, probe.test) not in self._wrong and self.own_seconds - began > _MOST_OWN:
                    continue
                theirs = self._wrong_run(name, probe, right)
            if theirs is not None and theirs.telling:
                nodes = betrays(seen, theirs)
                found.append(Likely(name, int(bool(nodes)), 1, nodes))
        return tuple(found)

    def _where(self, seen: TracedRun, row: int, right: RightValues) -> list[Place]:
        """The line of an odd value; before it, where a part of it was made that right programs use
        otherwise: a step is missing between."""
        node = int(seen.rows[row, NODE])
        head, places = seen.nodes[node].head, []
        first = seen.first()
        for part in seen.nodes[node].parts:
            if part not in first or seen.rows[first[part], COUNT] < 2:
                continue
            value = seen.rows[first[part]]
            made = maker(seen, value) if seen.nodes[part].name else None
            if not right.uses(value, head) and made is not None:
                places.append(seen.place(made))
        return [*places, seen.place(row)]

    def _right_values(self, probe: Probe) -> RightValues:
        if probe.test not in self._right:
            rows: list[np.ndarray] = []
            returned: list[np.ndarray] = []
            edges: set[tuple[int, str]] = set()
            for program, target in self._right_programs():
                some = self._own.notes.of(program.source, target, probe)
                if some is None:
                    continue
                begins = sum(map(len, rows))
                places: dict[int, list[int]] = {}
                for place, row in enumerate(some):
                    places.setdefault(int(row[NODE]), []).append(begins + place)
                for number, node in enumerate(program.nodes):
                    if number in places:
                        edges |= {(r, node.head) for p in node.parts for r in places.get(p, ())}
                rows.append(some)
                returned.append(TracedRun(program, some).returned(self._exercise))
            none = np.empty((0, WIDTH))
            every, given = (np.concatenate(x) if x else none for x in (rows, returned))
            self._right[probe.test] = RightValues(every, given, frozenset(edges))
        return self._right[probe.test]

    def _right_programs(self) -> list[tuple[Traced, Target]]:
        if self._programs is None:
            self._programs = []
            for source in self._own.right()[:_MOST_PROGRAMS]:
                try:
                    program = traced(source, [self._exercise])
                except NO_PYTHON:
                    continue
                self._programs.append((program, self._own.target(program.source)))
        return self._programs

    def _wrong_run(self, name: str, probe: Probe, right: RightValues) -> TracedRun | None:
        key = name, probe.test
        if key not in self._wrong:
            self._wrong[key] = None
            try:
                program = traced(self._own.wrong(name), [self._exercise])
            except NO_PYTHON:
                return None
            target = self._own.target(program.source)
            rows = self._own.notes.of(program.source, target, probe)
            rows = None if rows is None else right.comparable(rows)
            if rows is not None and len(rows):
                seen = TracedRun(program, rows)
                seen.judge(right, self._exercise)
                self._changed_by(seen)
                self._wrong[key] = seen
        return self._wrong[key]

    def _changed_by(self, seen: TracedRun) -> None:
        programs = self._right_programs()
        said = programs[0][0].statements if programs else []
        own, common = seen.program.statements, self._common
        seen.changed = frozenset(
            n for n, text in enumerate(own) if text and text not in said and text not in common
        )
        solution = {n.head for n in programs[0][0].nodes} if programs else set[str]()
        seen.new_heads = frozenset(n.head for n in seen.nodes) - solution
        seen.lacks = len([*filter(None, own)]) < len([*filter(None, said)])

    @cached_property
    def _common(self) -> frozenset[str]:
        """The statements that many wrong programs write: they are how these are written."""
        right = self._own.right()
        times = Counter[str]()
        for name in self._own.names:
            text = self._own.wrong(name).removeprefix(right[0] if right else "")
            with suppress(*NO_PYTHON):
                times.update(set(statements(text)))
        return frozenset(s for s, count in times.items() if count >= _COMMON)


def _telling(probes: Iterable[Probe], most: int) -> list[Probe]:
    """Of the failed tests those that tell most: plain ones before halves and the claimed device.

    None on a real GPU, of which a wrong program of ours would rob this process.
    """

    def rank(probe: Probe) -> tuple[bool, bool]:
        halves = in_low_precision(probe.test) or "half" in probe.test
        return halves, "fake" in probe.test

    answered = (p for p in probes if p.steps and p.steps[-1][1][0].raised is None)
    here = (p for p in answered if _REAL.isdisjoint(axes_of(p.test).split("-")))
    return sorted(here, key=rank)[:most]


def _joined(one: ValueHints, other: ValueHints) -> ValueHints:
    odd, ran = one.odd | other.odd, one.ran | other.ran
    wrong = (one.ran - one.right) | (other.ran - other.right) | odd
    named = {**dict(other.named), **dict(one.named)}
    by_name = {x.name: x for x in one.likely}
    for x in other.likely:
        by_name[x.name] = by_name[x.name].joined(x) if x.name in by_name else x
    rights = (one.right | other.right) - wrong
    first = (*one.first, *other.first)
    return ValueHints(odd, rights, tuple(named.items()), ran, tuple(by_name.values()), first)


__all__ = ["NO_HINTS", "OwnPrograms", "Place", "Traces", "ValueHints"]
