"""A run of a traced program beside those of right ones: what is odd in it, and where that began."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ...repair.instrumentation import (
    COUNT,
    FILLED,
    KIND,
    LIST,
    NODE,
    TEXT,
    UNORDERED,
    Noted,
    Traced,
)
from .trace_values import Which, is_common, moved, ordered, same

_TELLING = 4  # entries of a value that no other mistake makes by chance
Place = tuple[str, int]  # a function and a line


@dataclass(frozen=True)
class RightValues:
    """Of a test: what right programs noted, what of it they returned, and what used which row."""

    rows: np.ndarray
    returned: np.ndarray
    edges: frozenset[tuple[int, str]]

    def comparable(self, rows: np.ndarray) -> np.ndarray:
        """Without texts or lists, unless right programs make some as well."""
        other = {TEXT, LIST}.difference(self.rows[:, KIND].tolist())
        return rows[~np.isin(rows[:, KIND], [*other])]

    def asks_for(self, row: np.ndarray) -> bool:
        """Whether others should have such a value: no text or list, unless right programs give
        some back. Where these are on the way, or said to somebody, everybody writes others."""
        return row[KIND] not in (TEXT, LIST) or row[KIND] in self.returned[:, KIND]

    def uses(self, value: np.ndarray, head: str) -> bool:
        """Whether a right program makes this of that value."""
        return any((int(n), head) in self.edges for n in np.flatnonzero(same(value, self.rows)))


@dataclass
class TracedRun:
    """A run of a traced program: its rows, and which of them right programs have."""

    program: Traced
    rows: np.ndarray
    same: Which = field(default_factory=lambda: np.empty(0, bool))  # right, in right order
    ordered: Which = field(default_factory=lambda: np.empty(0, bool))  # and in another type
    moved: Which = field(default_factory=lambda: np.empty(0, bool))  # right, in some order
    changed: frozenset[int] = frozenset()  # its statements that right code lacks
    lacks: bool = False  # whether it has fewer statements than right code
    new_heads: frozenset[str] = frozenset()  # what it calls and the solution does not

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
                if not moved(row, right.returned).any():  # nor are its entries right before
                    self.moved &= ~moved(row, self.rows)

    def _compare(self, right: np.ndarray) -> None:
        known: dict[bytes, tuple[bool, bool, bool]] = {}  # the same value is read again and again
        for row in self.rows:
            value = row[NODE + 1 :].tobytes()
            if value not in known:
                some = right[right[:, COUNT] == row[COUNT]]
                ways = (same(row, some), ordered(row, some), moved(row, some))
                first, second, third = (bool(way.any()) for way in ways)
                known[value] = first, second, third
        found = [known[row[NODE + 1 :].tobytes()] for row in self.rows]
        self.same, self.ordered, self.moved = np.array(found, bool).reshape(-1, 3).T.copy()

    def place(self, row: int) -> Place:
        node = self.nodes[int(self.rows[row, NODE])]
        return node.function, node.line

    def statement(self, row: int) -> int:
        return self.nodes[int(self.rows[row, NODE])].statement

    def head(self, row: int) -> str:
        return self.nodes[int(self.rows[row, NODE])].head

    @cached_property
    def telling(self) -> list[int]:
        """Of a wrong program the rows that tell its mistake: where it leaves the right ones, and
        what its changed statements make of that."""
        first = (r for r in self.culprits() if self.lacks or self.statement(r) in self.changed)
        later = (r for r in self.first().values() if self.statement(r) in self.changed)
        rows = {int(self.rows[r, NODE]): r for r in (*first, *later) if not self.moved[r]}
        return [r for n, r in rows.items() if not self.nodes[n].name and _tells(self.rows[r])]

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
            wrong = {n for n in (*odd, *(bent if some is bent else ())) if self._is_large(first[n])}
            roots = [n for n in some if not self._within(n) & wrong and not self.nodes[n].name]
            found += sorted(first[n] for n in roots)
        return found

    def read_by(self, row: int) -> Iterator[tuple[int, np.ndarray]]:
        """The names that an expression reads, with right values; also through an order of them."""
        first, waiting = self.first(), list(self.nodes[int(self.rows[row, NODE])].parts)
        for part in waiting:
            at = first.get(part, row)
            if at != row and self.rows[at, COUNT] > 1 and self.nodes[part].name and self.same[at]:
                yield part, self.rows[at]
            elif at != row and self.moved[at]:
                waiting += self.nodes[part].parts

    def _is_large(self, row: int) -> bool:
        """Whether it is more than a number: one may be right in some other way."""
        return bool(self.rows[row, COUNT] > 1)

    def _within(self, node: int) -> set[int]:
        return set(self.nodes[node].parts)


def made_alike(seen: TracedRun, theirs: TracedRun, right: RightValues) -> Place | None:
    """Where a program makes what the changed line of a wrong one makes."""
    culprits, roots = theirs.culprits(), seen.culprits()
    if not culprits or not roots:
        return None  # no value tells them from right ones
    own = [r for r in culprits if theirs.statement(r) in theirs.changed]
    others = theirs.rows[[r for r in culprits if r not in own]]
    inside = [r for r in own if not same(theirs.rows[r], others).any()]  # not only handed on
    if not inside and (place := _alike_from_the_first(seen, theirs, right)) is not None:
        return place
    whole = [] if inside else _whole(theirs)
    left_out = culprits if theirs.lacks and not (inside or whole) else []
    odd = {int(seen.rows[r, NODE]) for r in roots}
    for rows, must_be_odd in ((inside, True), (whole, False), (left_out, True)):
        for row in rows:
            value = theirs.rows[row]
            if is_common(value) if theirs.same[row] else _says_little(value):
                continue
            made = maker(seen, theirs.rows[row], odd if must_be_odd else None)
            if made is not None and not must_be_odd:
                made = _in_turn(seen, theirs, row)
                made = made if made is not None and seen.head(made) == theirs.head(row) else None
            if made is not None:
                filled = _filled_wrongly(seen, made) if must_be_odd else None
                given = _given_before(seen, theirs, made, right) if rows is left_out else None
                before = _bent_before(seen, theirs, made) or _part_before(seen, theirs, made)
                return filled or given or before or _made_by(seen, made)
            if must_be_odd and (place := _sole_root(seen, value)) is not None:
                return place
    if inside:
        return _alike_from_the_first(seen, theirs, right)
    if not _of_loops(theirs):
        return None
    ends = theirs.rows[culprits]
    last = next((r for r in roots if same(seen.rows[r], ends).any()), None)
    return None if last is None else _given_before(seen, theirs, last, right)


def _whole(theirs: TracedRun) -> list[int]:
    """The rows of what a wrong program's changed statements come to."""
    parts = {p for n in theirs.nodes for p in n.parts}
    return [
        row
        for n, row in theirs.first().items()
        if theirs.nodes[n].statement in theirs.changed and n not in parts
    ]


def _alike_from_the_first(seen: TracedRun, theirs: TracedRun, right: RightValues) -> Place | None:
    """Where a program leaves right values first, if a wrong one leaves them first by the same."""
    own, other = _first_large(seen), _first_large(theirs)
    if seen.head(own) != theirs.head(other) or _says_little(theirs.rows[other]):
        return None
    if not same(theirs.rows[other], seen.rows[own : own + 1]).any():
        return None
    unchanged = theirs.statement(other) not in theirs.changed
    return (_given_before(seen, theirs, own, right) if unchanged else None) or _made_by(seen, own)


def _first_large(run: TracedRun) -> int:
    """The first odd row; of a number only if there is nothing larger."""
    culprits = run.culprits()
    return next((r for r in culprits if run.rows[r, COUNT] > 1), culprits[0])


def _given_before(seen: TracedRun, theirs: TracedRun, row: int, right: RightValues) -> Place | None:
    """Where a name got its value that an odd expression reads, if that value is right but comes too
    soon: right programs do something else with it, or what is wrong is how long a loop goes on."""
    node = seen.nodes[int(seen.rows[row, NODE])]
    ran = {seen.nodes[n].statement for n in seen.rows[:row, NODE].astype(int).tolist()}
    for part, value in seen.read_by(row):
        given = [g for g in seen.nodes[part].bound if g.statement in ran]
        if not given:
            continue
        loop_ended = given[-1].ended and _of_loops(theirs)
        if loop_ended or (part in node.parts and not right.uses(value, node.head)):
            return node.function, given[-1].line
    return None


def _of_loops(theirs: TracedRun) -> bool:
    """Whether a wrong program's mistake is in how a loop goes on."""
    changed = (theirs.program.statements[n] for n in theirs.changed)
    return any(s.startswith(("For ", "While ")) for s in changed)


def _made_by(seen: TracedRun, row: int) -> Place | None:
    """The place of a row, or where the generator is made that it draws from.

    None if it takes something that may be None, which no value tells of, or if it calls what has a
    state: what is wrong with that was done before.
    """
    node = seen.nodes[int(seen.rows[row, NODE])]
    times = Counter(seen.rows[:, NODE].astype(int).tolist())
    unseen = [seen.nodes[p] for p in node.parts if times[p] < times[int(seen.rows[row, NODE])]]
    if node.stateful or any(n.absent for n in unseen):
        return None
    origin = next((n.origin for n in unseen if n.origin), 0)
    return (node.function, origin) if origin else seen.place(row)


def _sole_root(seen: TracedRun, value: np.ndarray) -> Place | None:
    """Where a program leaves right values, if it has this one later and leaves them nowhere else.

    Values that lie in another order, or are of another type, count among themselves.
    """
    made = maker(seen, value, set(range(len(seen.nodes))))
    if made is None:
        return None
    roots = [r for r in seen.culprits() if seen.moved[r] == seen.moved[made]]
    roots = [r for r in roots if seen.rows[r, COUNT] > 1]
    places = {seen.place(r) for r in roots}
    if len(places) != 1 or roots[0] >= made:
        return None
    return _made_by(seen, roots[0])


def _bent_before(seen: TracedRun, theirs: TracedRun, row: int) -> Place | None:
    """Where the order or the type of a program's entries leaves the right one first, if that is
    what a wrong one's changed line does."""
    changed = [
        r
        for r in range(len(theirs.rows))
        if theirs.nodes[int(theirs.rows[r, NODE])].statement in theirs.changed
        if theirs.moved[r] and not theirs.same[r]
    ]
    of_type = all(theirs.ordered[r] for r in changed)
    if not changed or (seen.moved[row] and not of_type):  # or that is the place itself
        return None
    if not _reads_what_is_bent(seen, row):
        return None
    bent = [r for r in _but_lists(seen) if seen.moved[r] and r < row]
    bent = [r for r in bent if seen.ordered[r] or not of_type]
    return seen.place(min(bent)) if bent else None


def _part_before(seen: TracedRun, theirs: TracedRun, row: int) -> Place | None:
    """Where a program makes first what a wrong one makes within its changed statement, if it is
    on an earlier line."""
    place = seen.place(row)
    for other in range(len(theirs.rows)):
        node = theirs.nodes[int(theirs.rows[other, NODE])]
        value = theirs.rows[other]
        if node.name or node.statement not in theirs.changed:
            continue
        if theirs.same[other] and node.head not in theirs.new_heads:
            continue
        if value[COUNT] < 2 or is_common(value) or not same(value, seen.rows).any():
            continue
        made = min(int(r) for r in np.flatnonzero(same(value, seen.rows)))
        if made < row and seen.place(made)[0] == place[0] and seen.place(made)[1] < place[1]:
            return None if seen.nodes[int(seen.rows[made, NODE])].name else seen.place(made)
    return None


def _reads_what_is_bent(seen: TracedRun, row: int) -> bool:
    """Whether an expression is made of values that are right in another order or type only."""
    first = seen.first()
    parts = (first[p] for p in seen.nodes[int(seen.rows[row, NODE])].parts if p in first)
    return any(not seen.same[r] for r in parts)


def maker(seen: TracedRun, value: np.ndarray, among: set[int] | None = None) -> int | None:
    """The row at which a program first makes this value, in one of some expressions."""
    for alike in (same, moved):
        for row in np.flatnonzero(alike(value, seen.rows)):
            node = int(seen.rows[row, NODE])
            if seen.nodes[node].name or (among is not None and node not in among):
                continue
            if among is None or not seen.same[row]:
                return int(row)
    return None


def _but_lists(seen: TracedRun) -> list[int]:
    """Odd values without lists: one that nobody else makes may be a shape, and right."""
    return [r for r in seen.culprits() if seen.rows[r, KIND] != LIST]


def _filled_wrongly(seen: TracedRun, before: int) -> Place | None:
    """Where a program first writes something wrong into a value that it reads later."""
    culprits = (r for r in _but_lists(seen) if r < before)
    filled = [r for r in culprits if seen.nodes[int(seen.rows[r, NODE])].head == FILLED]
    return seen.place(min(filled)) if filled else None


def _in_turn(seen: TracedRun, theirs: TracedRun, row: int) -> int | None:
    """The row of a program that stands for this one of another, whose value is right by itself and
    may be made in several places; None if nothing says which one."""
    own, other = (_makers(run, theirs.rows[row]) for run in (seen, theirs))
    if len(own) < 2:
        return maker(seen, theirs.rows[row])
    statement = theirs.nodes[int(theirs.rows[row, NODE])].statement
    turns = [n for n, node in enumerate(other) if theirs.nodes[node].statement == statement]
    return list(own.values())[turns[0]] if len(own) == len(other) and len(turns) == 1 else None


def _makers(run: TracedRun, value: np.ndarray) -> dict[int, int]:
    """By expression that makes this value, its first row, in the order in which they run."""
    found: dict[int, int] = {}
    for row in np.flatnonzero(same(value, run.rows)):
        node = int(run.rows[row, NODE])
        if not run.nodes[node].name:
            found.setdefault(node, int(row))
    return found


def betrays(seen: TracedRun, theirs: TracedRun) -> frozenset[int]:
    """The expressions of a program that have the very values with which a statement of a wrong one
    leaves the right ones: all of them, since one alone may be a step on another way."""
    odd = [r for r in np.flatnonzero(~seen.moved) if not seen.nodes[int(seen.rows[r, NODE])].name]
    rows = seen.rows[odd]
    by_statement: dict[int, list[Which]] = {}
    for row in theirs.telling:
        by_statement.setdefault(theirs.statement(row), []).append(same(theirs.rows[row], rows))
    whole = (some for some in by_statement.values() if all(ways.any() for ways in some))
    return frozenset(int(n) for some in whole for ways in some for n in rows[ways, NODE])


def _says_little(row: np.ndarray) -> bool:
    """Whether a wrong value is one that other mistakes make too: the same number everywhere."""
    high, low = row[UNORDERED][[3, 4]]
    return bool(not _tells(row) if row[COUNT] == 1 else high == low)


def _tells(row: np.ndarray) -> bool:
    """Whether no other mistake makes such a value by chance."""
    if row[COUNT] == 1:
        return abs(float(row[UNORDERED][0]) % 1.0 - 0.5) < 0.49
    return bool(row[COUNT] >= _TELLING and not is_common(row))
