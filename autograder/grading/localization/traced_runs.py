"""Compare the recorded run of a program with right programs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ...repair.instrumentation import TracedExpression, TracedProgram
from ...repair.trace_recorder import COUNT, KIND, LIST, NODE, TEXT
from .trace_values import Mask, permuted, same

Place = tuple[str, int]  # a function and a line


@dataclass(frozen=True)
class RightValues:
    """The values of right programs in one test.

    rows: all of them
    returned: those that an exercise returned
    uses: pairs of a row and the head of an expression that has this value as a part
    """

    rows: np.ndarray
    returned: np.ndarray
    uses: frozenset[tuple[int, str]]

    def comparable(self, rows: np.ndarray) -> np.ndarray:
        """Remove texts and lists, unless right programs have some too."""
        foreign = {TEXT, LIST}.difference(self.rows[:, KIND].tolist())
        return rows[~np.isin(rows[:, KIND], [*foreign])]

    def is_expected(self, row: np.ndarray) -> bool:
        """Return True if right programs should have this value.

        Texts and lists differ from author to author, except where they are returned.
        """
        return row[KIND] not in (TEXT, LIST) or row[KIND] in self.returned[:, KIND]

    def are_used_by(self, value: np.ndarray, head: str) -> bool:
        """Return True if a right program applies `head` to that value."""
        return any((int(n), head) in self.uses for n in np.flatnonzero(same(value, self.rows)))


@dataclass
class TracedRun:
    """The recorded run of a program.

    same: the rows that right programs have too
    permuted: those and the rows that right programs have in a different order
    changed: the statements of a misconception that right code does not have
    lacks_statements: whether it has fewer statements than right code
    """

    program: TracedProgram
    rows: np.ndarray
    same: Mask = field(default_factory=lambda: np.empty(0, bool))
    permuted: Mask = field(default_factory=lambda: np.empty(0, bool))
    changed: frozenset[int] = frozenset()
    lacks_statements: bool = False

    @property
    def nodes(self) -> list[TracedExpression]:
        return self.program.nodes

    def node(self, row: int) -> TracedExpression:
        return self.nodes[int(self.rows[row, NODE])]

    def place(self, row: int) -> Place:
        return self.node(row).function, self.node(row).line

    def is_changed(self, row: int) -> bool:
        return self.node(row).statement in self.changed

    def is_large(self, row: int) -> bool:
        """Return True for more than a number: a single number can be right by coincidence."""
        return bool(self.rows[row, COUNT] > 1)

    def returned(self, exercise: str) -> np.ndarray:
        """Return the rows of the return values of an exercise."""
        own = [
            n.returned and (n.function == exercise or n.function.startswith(f"{exercise}."))
            for n in self.nodes
        ]
        return self.rows[[own[int(r[NODE])] for r in self.rows]]

    def judge(self, right: RightValues, exercise: str) -> None:
        """Mark the rows that right programs have; return values must be return values there."""
        known: dict[bytes, tuple[bool, bool]] = {}  # values are read again and again
        judged = []
        for row in self.rows:
            value = row[NODE + 1 :].tobytes()
            if value not in known:
                others = right.rows[right.rows[:, COUNT] == row[COUNT]]
                exact, in_any_order = same(row, others).any(), permuted(row, others).any()
                known[value] = bool(exact), bool(in_any_order)
            judged.append(known[value])
        self.same, self.permuted = np.array(judged, bool).reshape(-1, 2).T.copy()
        if not len(right.returned):
            return
        for row in self.returned(exercise):
            if same(row, right.returned).any():
                continue
            self.same &= ~same(row, self.rows)
            if not permuted(row, right.returned).any():
                self.permuted &= ~permuted(row, self.rows)

    @cached_property
    def first(self) -> dict[int, int]:
        """The first deviating row of each expression, or its first row if none deviates."""
        found: dict[int, int] = {}
        for row in range(len(self.rows)):
            node = int(self.rows[row, NODE])
            if node not in found or (self.same[found[node]] and not self.same[row]):
                found[node] = row
        return found

    @cached_property
    def deviations(self) -> list[int]:
        """The rows where right values become wrong, in order; last those that are only permuted."""
        first = self.first
        wrong = [n for n, row in first.items() if not self.permuted[row]]
        moved = [n for n, row in first.items() if self.permuted[row] and not self.same[row]]
        found = []
        for some, below in ((wrong, wrong), (moved, wrong + moved)):
            large = {n for n in below if self.is_large(first[n])}
            roots = [
                n
                for n in some
                if large.isdisjoint(self.nodes[n].parts) and not self.nodes[n].is_name
            ]
            found += sorted(first[n] for n in roots)
        return found

    def first_row_of(self, value: np.ndarray, among: frozenset[int] | None = None) -> int | None:
        """Return the row that first computes a value; a wrong one if `among` some expressions."""
        for alike in (same, permuted):
            for row in np.flatnonzero(alike(value, self.rows)):
                node = int(self.rows[row, NODE])
                if self.nodes[node].is_name or (among is not None and node not in among):
                    continue
                if among is None or not self.same[row]:
                    return int(row)
        return None
