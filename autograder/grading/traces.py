"""Where a wrong program's values leave those of right ones, expression by expression.

Theory of operation. A version of the program that notes its values (`repair/tracing.py`) is asked
what a failed test asks. What it noted is compared with what the solution and its alternatives noted
on the same questions, which are run outside of the sandbox: nothing of them goes in. An expression
is odd if no right program has its value; it is where the mistake shows if all that it is made of is
right. Where a misconception has a name, its own program tells which value its mistake makes: the
line that makes it is the student's mistake, in whatever words.

Nothing is believed of what was noted but a place in the student's own text.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from ..repair import NO_PYTHON
from ..repair.tracing import COUNT, NODE, WIDTH, Noted, Traced, traced
from .notes import Which, is_common, moved, noted, same
from .probes import Probe
from .targets import Target

_MOST_PROGRAMS = 6
_LOOKED_AT = 2  # probes
Place = tuple[str, int]  # a function and a line


@dataclass(frozen=True)
class OwnPrograms:
    """What a search may ask of our own code.

    right: the sources of right programs. wrong: that of a misconception. target: where one runs
    """

    right: Callable[[], Sequence[str]]
    wrong: Callable[[str], str]
    target: Callable[[str], Target]


@dataclass(frozen=True)
class ValueHints:
    """odd: lines where values first leave the right ones. right: lines whose values all are right.
    named: lines that make what a named mistake makes, by its name. ran: lines of which any ran."""

    odd: frozenset[Place] = frozenset()
    right: frozenset[Place] = frozenset()
    named: tuple[tuple[str, Place], ...] = ()
    ran: frozenset[Place] = frozenset()


NO_HINTS = ValueHints()


@dataclass
class TracedRun:
    """A run of a traced program: its rows, and which of them right programs have."""

    program: Traced
    rows: np.ndarray
    same: Which = field(default_factory=lambda: np.empty(0, bool))  # right, in right order
    moved: Which = field(default_factory=lambda: np.empty(0, bool))  # right, in some order
    changed: frozenset[int] = frozenset()  # its statements that right code lacks

    @property
    def nodes(self) -> list[Noted]:
        return self.program.nodes

    def judge(self, right: np.ndarray) -> None:
        """Compare with the rows of right programs."""
        self.same = np.array([bool(same(r, right).any()) for r in self.rows], bool)
        self.moved = self.same | np.array([bool(moved(r, right).any()) for r in self.rows], bool)

    def first(self) -> dict[int, int]:
        """By expression its first row that is odd, or else its first one."""
        found: dict[int, int] = {}
        for row in range(len(self.rows)):
            node = int(self.rows[row, NODE])
            if node not in found or (self.same[found[node]] and not self.same[row]):
                found[node] = row
        return found

    def culprits(self) -> list[int]:
        """Rows of odd expressions that are made of right ones, as they ran; last what only lies in
        another order."""
        first = self.first()
        odd = [n for n, row in first.items() if not self.moved[row]]
        bent = [n for n, row in first.items() if self.moved[row] and not self.same[row]]
        found = []
        for some in (odd, bent):
            wrong = {*odd, *bent} if some is bent else set(odd)
            roots = [n for n in some if not self._within(n) & wrong and not self.nodes[n].name]
            found += sorted(first[n] for n in roots)
        return found

    def _within(self, node: int) -> set[int]:
        return set(self.nodes[node].parts)


class Traces:
    """Of one exercise: what right programs noted in its tests, and what wrong ones note."""

    def __init__(self, exercise: str, own: OwnPrograms) -> None:
        self._exercise, self._own = exercise, own
        self._right: dict[str, tuple[np.ndarray, set[tuple[int, str]]]] = {}
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
        for probe in _telling(probes):
            rows = noted(target, self._exercise, probe)
            if rows is None or not len(rows):
                continue
            seen = TracedRun(program, rows)
            with self._on_us():
                right, edges = self._right_rows(probe)
            seen.judge(right)
            found = _joined(found, self._read(seen, probe, names, right, edges))
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
        right: np.ndarray,
        edges: set[tuple[int, str]],
    ) -> ValueHints:
        lines: dict[Place, bool] = {}
        large = set[Place]()
        for number, row in seen.first().items():
            place = _place(seen, number)
            lines[place] = lines.get(place, True) and bool(seen.same[row])
            if seen.rows[row, COUNT] > 1:
                large.add(place)
        odd: list[Place] = []
        for row in seen.culprits()[:2]:
            odd += self._where(seen, row, right, edges)
        named = []
        for name in names:
            with self._on_us():
                theirs = self._wrong_run(name, probe, right)
            made = _made_alike(seen, theirs) if theirs is not None else None
            if made is not None:
                named.append((name, made))
        rights = frozenset(p for p, fine in lines.items() if fine and p in large) - set(odd)
        return ValueHints(frozenset(odd), rights, tuple(named), frozenset(lines))

    def _where(
        self, seen: TracedRun, row: int, right: np.ndarray, edges: set[tuple[int, str]]
    ) -> list[Place]:
        """The line of an odd value; before it, where a part of it was made that right programs use
        otherwise: a step is missing between."""
        node = int(seen.rows[row, NODE])
        head, places = seen.nodes[node].head, []
        first = seen.first()
        for part in seen.nodes[node].parts:
            if part not in first or seen.rows[first[part], COUNT] < 2:
                continue
            value = seen.rows[first[part]]
            used = any((int(n), head) in edges for n in np.flatnonzero(same(value, right)))
            made = _maker(seen, value) if seen.nodes[part].name else None
            if not used and made is not None:
                places.append(made)
        return [*places, _place(seen, node)]

    def _right_rows(self, probe: Probe) -> tuple[np.ndarray, set[tuple[int, str]]]:
        """The values of right programs, each once, and by what each is used in them."""
        if probe.test not in self._right:
            rows: list[np.ndarray] = []
            edges: set[tuple[int, str]] = set()
            for program, target in self._right_programs():
                some = noted(target, self._exercise, probe)
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
            every = np.concatenate(rows) if rows else np.empty((0, WIDTH))
            self._right[probe.test] = every, edges
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

    def _wrong_run(self, name: str, probe: Probe, right: np.ndarray) -> TracedRun | None:
        key = name, probe.test
        if key not in self._wrong:
            self._wrong[key] = None
            try:
                program = traced(self._own.wrong(name), [self._exercise])
            except NO_PYTHON:
                return None
            rows = noted(self._own.target(program.source), self._exercise, probe)
            if rows is not None and len(rows):
                seen = TracedRun(program, rows)
                seen.judge(right)
                self._changed_by(seen)
                self._wrong[key] = seen
        return self._wrong[key]

    def _changed_by(self, seen: TracedRun) -> None:
        said = set(self._right_programs()[0][0].statements) if self._right_programs() else set()
        seen.changed = frozenset(
            n for n, text in enumerate(seen.program.statements) if text not in said
        )


def _telling(probes: Iterable[Probe]) -> list[Probe]:
    """Of the failed tests those that tell most: plain ones before halves and other devices."""

    def rank(probe: Probe) -> tuple[bool, bool]:
        halves = any(h in probe.test for h in ("float16", "half"))
        return halves, "fake" in probe.test

    answered = [p for p in probes if p.steps and p.steps[-1][1][0].raised is None]
    return sorted(answered, key=rank)[:_LOOKED_AT]


def _made_alike(seen: TracedRun, theirs: TracedRun) -> Place | None:
    """Where a program makes what the changed line of a wrong one makes."""
    changed = theirs.changed
    culprits = theirs.culprits()
    if not culprits or not seen.culprits():
        return None  # no value tells them from right ones
    inside = [r for r in culprits if theirs.nodes[int(theirs.rows[r, NODE])].statement in changed]
    first = theirs.first()
    parts = {p for n in theirs.nodes for p in n.parts}
    whole = [
        row
        for n, row in first.items()
        if theirs.nodes[n].statement in changed and n not in parts and not theirs.nodes[n].name
    ]
    left_out = [] if inside or whole else culprits  # a statement is missing: nothing is changed
    for rows, must_be_odd in ((inside, True), (whole, False), (left_out, True)):
        for row in rows:
            if theirs.same[row] and is_common(theirs.rows[row]):
                continue
            place = _maker(seen, theirs.rows[row], must_be_odd)
            if place is not None:
                return place
    return None


def _maker(seen: TracedRun, value: np.ndarray, must_be_odd: bool = False) -> Place | None:
    """Where a program first makes this value."""
    for alike in (same, moved):
        for row in np.flatnonzero(alike(value, seen.rows)):
            node = int(seen.rows[row, NODE])
            if not seen.nodes[node].name and not (must_be_odd and seen.same[row]):
                return _place(seen, node)
    return None


def _place(seen: TracedRun, node: int) -> Place:
    return seen.nodes[node].function, seen.nodes[node].line


def _joined(one: ValueHints, other: ValueHints) -> ValueHints:
    odd, ran = one.odd | other.odd, one.ran | other.ran
    wrong = (one.ran - one.right) | (other.ran - other.right) | odd
    named = {**dict(other.named), **dict(one.named)}
    return ValueHints(odd, (one.right | other.right) - wrong, tuple(named.items()), ran)


__all__ = ["NO_HINTS", "OwnPrograms", "Place", "Traces", "ValueHints"]
