"""Measure for how many wrong programs a counterexample is found, and how small it is.

    python -m benchmarks.counterexamples [WEEK ...] [--every 1] [--first 0] [--here] [--show]

Each misconception runs in the sandbox, first without the names of the hidden tests that it fails,
which would save time. The processor time includes the sandbox. Then the notebook cell of each
counterexample runs with the solution and with the misconception, in this process, and the two must
print different texts or raise different exceptions. A drawing, and work such as memory, cannot be
printed: their cells must only run.

--every N --first M   use every N-th misconception, starting at index M
--here                run the misconceptions in this process
--show                print each counterexample
"""

from __future__ import annotations

import argparse
import contextlib
import io
import statistics
import sys
import time
import types
import warnings
from collections import Counter
from typing import NamedTuple

from autograder.grading.engine import Engine
from autograder.grading.warmup import warm_engine
from autograder.model.course import Counterexamples, Course, Week, load
from autograder.model.course.bank import Misconception
from autograder.model.report.schema import Counterexample
from autograder.sandbox import choose

from .floor import used
from .measure import ROOT
from .plain import DEVICES
from .results import table, write_section

_SECRET = b"counterexamples need no secret"
_NOT_PRINTED = ("drawing", "work", "memory access", "effect", "message", "forbidden")


class Searched(NamedTuple):
    """The search for one misconception. `confirmed`: whether its cell shows the difference."""

    misconception: Misconception
    found: Counterexample | None
    seconds: float
    confirmed: bool


def run_cell(cell: str, week: Week, source: str) -> str:
    """Run a notebook cell with a program as the week's module; return what it prints or raises."""
    name = week.module.removesuffix(".py")
    module = types.ModuleType(name)
    before, printed = sys.modules.get(name), io.StringIO()
    sys.modules[name] = module
    try:
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                exec(compile(source, f"{name}.py", "exec"), vars(module))
                exec(compile(cell, "cell", "exec"), {"__name__": "__main__"})
            except Exception as error:
                return f"{printed.getvalue()}{type(error).__name__}: {error}"
    finally:
        del sys.modules[name]
        if before is not None:
            sys.modules[name] = before
    return printed.getvalue()


def is_confirmed(found: Counterexample, engine: Engine, one: Misconception) -> bool:
    """Return True if the cell prints different texts for the solution and the misconception."""
    sources = engine.bank.solution, one.source
    right, wrong = (run_cell(found.cell, engine.week, source) for source in sources)
    if found.kind in _NOT_PRINTED:
        return not any(word in right for word in ("NameError", "SyntaxError", "ImportError"))
    return right != wrong


def measure(course: Course, week: Week, chosen: argparse.Namespace) -> list[Searched]:
    """Search counterexamples for the misconceptions of a week."""
    engine = warm_engine(course, week, DEVICES, _SECRET, None if chosen.here else choose())
    search, searched = engine.counterexamples(Counterexamples()), []
    try:
        for one in engine.bank.misconceptions[chosen.first :: chosen.every]:
            files, tests = engine.runs.files(one.source), search.recorded(one.exercise)
            before = used()
            search.begin()
            answer = search.find(files, one.exercise)
            if answer is None:  # small differences count only in tests that are known to fail
                failed = [t.name for t in tests if f"::{one.rejected_by}" in t.name]
                answer = search.find(files, one.exercise, failed) if failed else None
            found = None if answer is None else answer.example
            seconds = used() - before
            confirmed = found is not None and is_confirmed(found, engine, one)
            searched.append(Searched(one, found, seconds, confirmed))
            if chosen.show:
                print(shown(searched[-1]), flush=True)
    finally:
        search.close()
        engine.close()
    return searched


def shown(one: Searched) -> str:
    name = f"{one.misconception.exercise} {one.misconception.name}, {one.seconds:.2f} s"
    if one.found is None:
        return f"--- none: {name}"
    found = one.found
    state = "" if one.confirmed else " NOT CONFIRMED"
    return (
        f"--- {found.kind}, {found.numbers} numbers: {name}{state}\n{found.call}\n"
        f"    expected {found.expected}\n    actual   {found.actual}"
    )


def row(week: str, searched: list[Searched]) -> tuple[str, ...]:
    found = [one.found for one in searched if one.found is not None]
    numbers = sorted(f.numbers for f in found)
    seconds = [one.seconds for one in searched]
    return (
        week,
        f"{len(found)} of {len(searched)}",
        f"{sum(one.confirmed for one in searched)}",
        f"{statistics.median(numbers):g}" if numbers else "-",
        f"{numbers[int(0.95 * (len(numbers) - 1))]}" if numbers else "-",
        f"{statistics.mean(seconds):.2f}",
        f"{max(seconds):.2f}",
        ", ".join(f"{k} {n}" for k, n in Counter(f.kind for f in found).most_common()),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("weeks", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--here", action="store_true")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--no-results", action="store_true", help="do not write RESULTS.md")
    chosen = parser.parse_args()
    sys.path.append(str(ROOT / "assets"))  # public modules, which cells import
    course, rows, every, began = load(ROOT), [], list[Searched](), time.monotonic()
    for name in chosen.weeks or [w.name for w in course.weeks]:
        searched = measure(course, course.week(name), chosen)
        every += searched
        rows.append(row(name, searched))
        print(*rows[-1], sep=" | ", flush=True)
        for one in searched:
            if one.found is None or not one.confirmed:
                label = "none" if one.found is None else "not confirmed"
                print(f"  {label}: {one.misconception.exercise}.{one.misconception.name}")
    if len(rows) > 1:
        rows.append(row("all", every))
        print(*rows[-1], sep=" | ")
    print(f"{time.monotonic() - began:.0f} s")
    head = ("week", "found", "cell confirmed", "numbers, median", "numbers, 95 %",
            "processor time, s", "longest, s", "kinds")  # fmt: skip
    if not chosen.no_results:
        write_section(
            "counterexamples",
            "Counterexamples",
            "Misconceptions for which a counterexample is found, and how many numbers its call "
            f"contains. The processor time includes the sandbox.\n\n{table(head, rows)}",
        )


if __name__ == "__main__":
    main()
