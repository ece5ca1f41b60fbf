"""Measure how much each part of localization contributes to diagnoses and reported lines.

    python -m benchmarks.ablation [WEEK ...] [--every 6] [--first 1] [--off traces,...]
        [--operators] [--no-marking] [--out FILE]

Two sets of wrong programs are graded in the sandbox, on the CPU, with the time budgets in
course.yaml: misconceptions, each of which is removed from the bank while its program is graded, and
the programs of `marking` and `marking_later`, which were written without the bank. Each program is
graded with all parts enabled, and then with one part disabled at a time.

--every N --first M   use every N-th misconception, starting at index M
--off PARTS           the parts to disable, comma-separated
--operators           also disable, one at a time, each operator that fixed a mistake
--no-marking          skip the programs of `marking` and `marking_later`
--out FILE            append one line of JSON per grading; gradings that FILE already contains are
                      skipped, so an interrupted run can be continued

A program counts as named if its diagnosis names a misconception or a kind of edit; symptoms of
failed checks do not count. It counts as located if at least one reported line differs from the
correct program.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from autograder.grading.engine import Engine
from autograder.grading.localization import localizer
from autograder.grading.localization.repair_search import Fix, Search
from autograder.grading.localization.traces import NO_HINTS, Traces
from autograder.grading.warmup import warm_engine
from autograder.model.course import Course, load
from autograder.model.course.bank import Bank, Misconception
from autograder.repair import candidates
from autograder.sandbox import choose

from . import marking, marking_later
from .measure import ROOT
from .results import table, write_section

_SECRET = b"an ablation needs no secret"  # seed of the hidden inputs
WHOLE = "nothing"
PARTS = ("traces", "single edits", "partial edits")
_TABLES = ("EXPRESSION_OPERATORS", "STATEMENT_OPERATORS", "FUNCTION_OPERATORS")


class Unknown(NamedTuple):
    """A wrong program that does not match any misconception in the bank.

    lines:   numbers of the lines that differ from the correct program
    removed: misconceptions to remove from the bank while the program is graded
    """

    name: str
    exercise: str
    source: str
    lines: frozenset[int]
    removed: frozenset[str] = frozenset()


class Row(NamedTuple):
    """The result of one grading with a part of localization disabled."""

    week: str
    program: str
    off: str
    named: bool
    located: bool
    elsewhere: bool  # every reported line is equal to the correct program
    operators: list[str]  # operators that proposed the reported edits
    seconds: float


def left_out(bank: Bank, every: int, first: int) -> Iterator[Unknown]:
    """Yield every N-th misconception of a week; it and its synonyms are to be removed."""
    known = bank.misconceptions
    for one in known[first::every]:
        synonyms = {m.name for m in known if one.name in m.same_as}
        removed = frozenset({one.name, *one.same_as, *synonyms})
        yield Unknown(one.name, one.exercise, one.source, _own_lines(bank, one), removed)


def _own_lines(bank: Bank, one: Misconception) -> frozenset[int]:
    """Return the lines of a misconception that differ from the solution's definitions."""
    right = {n.name: n for n in ast.parse(bank.solution).body if isinstance(n, _DEFINITIONS)}
    solution, lines = bank.solution.split("\n"), one.source.split("\n")
    found = set[int]()
    for node in ast.parse(one.source).body:
        if isinstance(node, _DEFINITIONS) and node.lineno > len(solution):
            span = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            before = right.get(node.name)
            text = solution[before.lineno - 1 : before.end_lineno] if before else []
            own = [lines[n - 1] for n in span]
            found |= {node.lineno + n for n in _differing(text, own)}
    return frozenset(found)


_DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


def _differing(right: list[str], wrong: list[str]) -> Iterator[int]:
    """Yield the indices of lines in `wrong` that differ, or that surround a missing line."""
    texts = [[line.strip() for line in some] for some in (right, wrong)]
    for tag, _, _, start, end in difflib.SequenceMatcher(None, *texts, False).get_opcodes():
        if tag == "delete":
            yield from {max(0, start - 1), min(start, len(wrong) - 1)}
        elif tag != "equal":
            yield from range(start, end)


def marked_programs(week: str, solution: str) -> Iterator[Unknown]:
    """Yield the wrong programs of a week from `marking` and `marking_later`."""
    for marked in marking.MARKED:
        of_week, base = marking.BASES[marked.exercise]
        if of_week == week:
            right, wrong = (f"{solution}\n{text}" for text in (base, marked.text))
            lines = _differing(right.split("\n"), wrong.split("\n"))
            yield Unknown(
                f"{marked.exercise}: {'; '.join(marked.mistakes)}",
                marked.exercise,
                wrong,
                frozenset(n + 1 for n in lines),
            )
    for change in marking_later.CHANGES.get(week, ()):
        wrong = solution.replace(change.old, change.new)
        lines = _differing(solution.split("\n"), wrong.split("\n"))
        name = f"{change.exercise}: {change.mistake}"
        yield Unknown(name, change.exercise, wrong, frozenset(n + 1 for n in lines))


def switched_off(part: str) -> ExitStack:
    """Disable a part of localization, or the operator named `part`, until the stack is closed."""
    stack = ExitStack()
    if part == "traces":
        stack.enter_context(patch.object(Traces, "hints", lambda self, *given: NO_HINTS))
    elif part == "single edits":  # also disables partial edits, which are selected from them
        stack.enter_context(patch.object(localizer, "generate_edits", lambda *given: []))
    elif part == "partial edits":
        stack.enter_context(patch.object(Search, "partial_fixes", lambda self: []))
    elif part != WHOLE:
        for name in _TABLES:
            rows = getattr(candidates, name)
            kept = tuple(row for row in rows if row[0].__name__ != part)
            stack.enter_context(patch.object(candidates, name, kept))
    return stack


def grade(course: Course, engine: Engine, one: Unknown, off: str) -> Row:
    """Grade a program with a part of localization disabled; `off` is a part or an operator."""
    operators: list[str] = []
    search = Search.fixes

    def fixes(self: Search) -> list[Fix]:
        found = search(self)
        operators.extend(fix.edit.operator for fix in found)
        return found

    known = engine.bank.misconceptions
    # The bank caches its misconceptions in an attribute; remove some for this grading.
    vars(engine.bank)["misconceptions"] = tuple(m for m in known if m.name not in one.removed)
    engine.locate_mistakes(course.registry.suspects)  # discard the caches of earlier submissions
    began = time.monotonic()
    try:
        with switched_off(off), patch.object(Search, "fixes", fixes):
            files = {engine.week.module: one.source.encode()}
            report = engine.grade("student", files, one.exercise)
    finally:
        vars(engine.bank)["misconceptions"] = known
    exercise = next(e for e in report.exercises if e.name == one.exercise)
    lines = {s.line for s in exercise.suspects}
    located = not lines.isdisjoint(one.lines)
    return Row(
        engine.week.name,
        one.name,
        off,
        any(not name.startswith("shows:") for name in exercise.diagnosis),
        located,
        bool(lines) and not located,
        operators,
        round(time.monotonic() - began, 2),
    )


def run(course: Course, week: str, chosen: argparse.Namespace, out: Path) -> None:
    """Grade the programs of a week, and append the new results to the file `out`."""
    done = {(r.week, r.program, r.off): r for r in read(out)}
    engine = warm_engine(course, course.week(week), ("cpu",), _SECRET, choose())
    try:
        programs = list(left_out(engine.bank, chosen.every, chosen.first))
        if not chosen.no_marking:
            programs += marked_programs(week, engine.bank.solution)
        for one in programs:
            waiting = [WHOLE, *filter(None, chosen.off.split(","))]
            for off in waiting:
                key = week, one.name, off
                row = done.get(key) or grade(course, engine, one, off)
                if key not in done:
                    with out.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")
                if off == WHOLE and chosen.operators:
                    waiting += dict.fromkeys(row.operators)
    finally:
        engine.close()


def read(path: Path) -> list[Row]:
    """Read the results of earlier runs."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [Row(*json.loads(line)) for line in lines]


def report(rows: list[Row]) -> str:
    """Compare the results with each part disabled to the results with all parts enabled."""
    whole = {(r.week, r.program): r for r in rows if r.off == WHOLE}
    head = ("disabled part", "programs", "named", "correct line", "only wrong lines")
    lines = []
    for off in dict.fromkeys(r.off for r in rows):
        pairs = [(r, whole[r.week, r.program]) for r in rows if r.off == off]
        counts = [
            f"{sum(getattr(r, name) for r, _ in pairs)} ({sum(getattr(w, name) for _, w in pairs)})"
            for name in ("named", "located", "elsewhere")
        ]
        lines.append(("none" if off == WHOLE else off, str(len(pairs)), *counts))
    wins = Counter(o for r in whole.values() for o in r.operators)
    listed = ", ".join(f"{name} {count}" for name, count in wins.most_common())
    weeks = Counter(r.week for r in whole.values())
    programs = ", ".join(f"{count} of {week}" for week, count in weeks.items())
    return (
        f"Programs: {programs}. In parentheses: the same programs with all parts enabled."
        f"\n\n{table(head, lines)}\n\n"
        f"Operators that fixed a mistake completely or partly: {listed}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("weeks", nargs="*")
    parser.add_argument("--every", type=int, default=6)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--off", default=",".join(PARTS), help="parts to disable, comma-separated")
    parser.add_argument("--operators", action="store_true")
    parser.add_argument("--no-marking", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("ablation.jsonl"))
    chosen = parser.parse_args()
    course = load(ROOT)
    for week in chosen.weeks or [w.name for w in course.registry.weeks]:
        run(course, week, chosen, chosen.out)
    write_section("ablation", "Ablation of localization", report(read(chosen.out)))


if __name__ == "__main__":
    main()
