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


@dataclass(frozen=True)
class RightValues:
    """Of a test: what right programs noted, what of it they returned, and what used which row."""

    rows: np.ndarray
    returned: np.ndarray
    edges: frozenset[tuple[int, str]]


@dataclass
class TracedRun:
    """A run of a traced program: its rows, and which of them right programs have."""

    program: Traced
    rows: np.ndarray
    same: Which = field(default_factory=lambda: np.empty(0, bool))  # right, in right order
    moved: Which = field(default_factory=lambda: np.empty(0, bool))  # right, in some order
    changed: frozenset[int] = frozenset()  # its statements that right code lacks
    lacks: bool = False  # whether it has fewer statements than right code

    @property
    def nodes(self) -> list[Noted]:
        return self.program.nodes

    def returned(self, exercise: str) -> np.ndarray:
        """The rows of what the exercise returns."""
        own = [
            n.returned and (n.function == exercise or n.function.startswith(f"{exercise}."))
            for n in self.nodes
        ]
        return self.rows[[own[int(r[NODE])] for r in self.rows]]

    def judge(self, right: RightValues, exercise: str) -> None:
        """Compare with what right programs noted: what is returned, with what they return."""
        self._compare(right.rows)
        if len(right.returned):
            wrong = [r for r in self.returned(exercise) if not same(r, right.returned).any()]
            for row in wrong:
                self.same &= ~same(row, self.rows)
                if not moved(row, right.returned).any():
                    self.moved &= ~same(row, self.rows)

    def _compare(self, right: np.ndarray) -> None:
        self.same = np.array([bool(same(r, right).any()) for r in self.rows], bool)
        self.moved = self.same | np.array([bool(moved(r, right).any()) for r in self.rows], bool)

    def place(self, row: int) -> Place:
        node = self.nodes[int(self.rows[row, NODE])]
        return node.function, node.line

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
        for probe in _telling(probes):
            rows = noted(target, self._exercise, probe)
            if rows is None or not len(rows):
                continue
            seen = TracedRun(program, rows)
            with self._on_us():
                right = self._right_values(probe)
            seen.judge(right, self._exercise)
            found = _joined(found, self._read(seen, probe, names, right))
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
        for row in seen.culprits()[:2]:
            odd += self._where(seen, row, right)
        named = []
        for name in names:
            with self._on_us():
                theirs = self._wrong_run(name, probe, right)
            made = _made_alike(seen, theirs) if theirs is not None else None
            if made is not None:
                named.append((name, made))
        rights = frozenset(p for p, fine in lines.items() if fine and p in large) - set(odd)
        return ValueHints(frozenset(odd), rights, tuple(named), frozenset(lines))

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
            used = any(
                (int(n), head) in right.edges for n in np.flatnonzero(same(value, right.rows))
            )
            made = _maker(seen, value) if seen.nodes[part].name else None
            if not used and made is not None:
                places.append(seen.place(made))
        return [*places, seen.place(row)]

    def _right_values(self, probe: Probe) -> RightValues:
        if probe.test not in self._right:
            rows: list[np.ndarray] = []
            returned: list[np.ndarray] = []
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
            rows = noted(self._own.target(program.source), self._exercise, probe)
            if rows is not None and len(rows):
                seen = TracedRun(program, rows)
                seen.judge(right, self._exercise)
                self._changed_by(seen)
                self._wrong[key] = seen
        return self._wrong[key]

    def _changed_by(self, seen: TracedRun) -> None:
        programs = self._right_programs()
        said = programs[0][0].statements if programs else []
        own = seen.program.statements
        seen.changed = frozenset(n for n, text in enumerate(own) if text and text not in said)
        seen.lacks = len([*filter(None, own)]) < len([*filter(None, said)])


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
        row for n, row in first.items() if theirs.nodes[n].statement in changed and n not in parts
    ]
    left_out = culprits if theirs.lacks and not (inside or whole) else []
    for rows, must_be_odd in ((inside, True), (whole, False), (left_out, True)):
        for row in rows:
            if theirs.same[row] and is_common(theirs.rows[row]):
                continue
            made = _maker(seen, theirs.rows[row], must_be_odd)
            if made is not None:
                return _bent_before(seen, theirs, made) or seen.place(made)
    return None


def _bent_before(seen: TracedRun, theirs: TracedRun, row: int) -> Place | None:
    """Where the order of a program's entries leaves the right one first, if that is what a wrong
    one's changed line does."""
    bends = any(
        theirs.moved[r] and not theirs.same[r]
        for r in range(len(theirs.rows))
        if theirs.nodes[int(theirs.rows[r, NODE])].statement in theirs.changed
    )
    bent = [r for r in seen.culprits() if seen.moved[r] and r < row] if bends else []
    return seen.place(min(bent)) if bent else None


def _maker(seen: TracedRun, value: np.ndarray, must_be_odd: bool = False) -> int | None:
    """The row at which a program first makes this value."""
    for alike in (same, moved):
        for row in np.flatnonzero(alike(value, seen.rows)):
            node = int(seen.rows[row, NODE])
            if not seen.nodes[node].name and not (must_be_odd and seen.same[row]):
                return int(row)
    return None


def _joined(one: ValueHints, other: ValueHints) -> ValueHints:
    odd, ran = one.odd | other.odd, one.ran | other.ran
    wrong = (one.ran - one.right) | (other.ran - other.right) | odd
    named = {**dict(other.named), **dict(one.named)}
    return ValueHints(odd, (one.right | other.right) - wrong, tuple(named.items()), ran)


__all__ = ["NO_HINTS", "OwnPrograms", "Place", "Traces", "ValueHints"]
