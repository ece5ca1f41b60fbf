"""Measure the points that correct code loses because it calls a wrong helper.

    python -m benchmarks.charged_again [WEEK ...] [--each N] [--sandbox] [--only NAME]

Each submission contains one misconception of a helper, which is an exercise that other exercises
call. All other code comes from the solution, or from an alternative that calls different helpers.
All points that the other exercises lose are therefore lost by correct code.

The table has one row per week: the number of misconceptions, the number that cost points in other
exercises, and the sum of these points, without error carried forward
(`scoring: {follow_through: none}`) and with it (`full`).

--each N     use only the first N misconceptions of each helper
--only NAME  use only this misconception
--sandbox    grade in the sandbox; by default, submissions run in this process, on the CPU
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

from autograder.grading.dependencies.error_carried_forward import read_call_graph
from autograder.grading.engine import Engine
from autograder.grading.warmup import warm_engine
from autograder.model.course import Course, Week, load
from autograder.model.course.bank import Misconception
from autograder.model.report.schema import SubmissionReport
from autograder.sandbox import choose

from .measure import ROOT

_SECRET = b"the figures do not depend on it"  # seed of the hidden inputs
_NOTHING = 0.005  # smaller losses are rounding errors


@dataclass
class Row:
    """The results for a week.

    tried:  number of misconceptions
    before: points lost per misconception, without error carried forward
    after:  points lost per misconception, with error carried forward
    left:   points that are still lost, by misconception and exercise
    """

    week: str
    tried: int = 0
    before: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)
    left: dict[str, dict[str, float]] = field(default_factory=dict)

    def line(self) -> str:
        return (
            f"| {self.week} | {self.tried} | {_some(self.before)} | {sum(self.before):.1f} "
            f"| {_some(self.after)} | {sum(self.after):.1f} |"
        )


HEAD = (
    "| week | wrong helpers | cost points elsewhere | points lost "
    "| cost points with error carried forward | points lost |\n"
    "| --- | --- | --- | --- | --- | --- |"
)


def _some(points: list[float]) -> int:
    return sum(p > _NOTHING for p in points)


def measure(course: Course, week: Week, each: int, sandboxed: bool, only: str = "") -> Row:
    """Grade each wrong helper of a week without and with error carried forward."""
    row = Row(week.name)
    engine = warm_engine(course, week, ("cpu",), _SECRET, choose() if sandboxed else None)
    try:
        for program, misconception in beside_helpers(engine, each):
            if only and misconception.name != only:
                continue
            row.tried += 1
            lost = {h: lost_elsewhere(engine, program, misconception, h) for h in ("none", "full")}
            row.before.append(sum(lost["none"].values()))
            row.after.append(sum(lost["full"].values()))
            if lost["none"]:
                row.left[misconception.name] = lost["full"]
                shown = " ".join(f"{e}:{p:.2f}" for e, p in lost["full"].items())
                print(
                    f"  {misconception.exercise}/{misconception.name}: "
                    f"{row.before[-1]:.2f} -> {row.after[-1]:.2f} {shown}",
                    file=sys.stderr,
                    flush=True,
                )
    finally:
        engine.close()
    return row


def beside_helpers(engine: Engine, each: int) -> Iterator[tuple[str, Misconception]]:
    """Yield pairs of a correct program and a misconception of a helper that the program calls.

    For each exercise and each misconception of its helpers, yield only the first suitable program.
    Skip programs that share private names with the misconception, because one definition would
    replace the other.

    each: number of misconceptions per helper, or 0 for all
    """
    bank, names = engine.bank, tuple(e.name for e in engine.week.exercises)
    met = set[tuple[str, str]]()
    for program in (bank.solution, *bank.alternatives.values()):
        calls, own = read_call_graph(program, names), program[len(bank.solution) :]
        for helper in names:
            callers = [e for e in names if helper in calls.reached(e)]
            for misconception in bank.of_exercise(helper)[: each or None]:
                new = {(e, misconception.name) for e in callers} - met
                added = misconception.source[len(bank.solution) :]
                if new and _shared(own, added) <= set(names):
                    met |= new
                    yield program, misconception


def _shared(one: str, other: str) -> set[str]:
    """Return the names that one of two source texts defines and the other one uses."""
    (defined, used), (defined_there, used_there) = map(_names, (one, other))
    return defined & used_there | defined_there & used


def _names(source: str) -> tuple[set[str], set[str]]:
    """Return the functions and classes that a source text defines, and all names in it."""
    tree = ast.parse(source)
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return defined, defined | {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def lost_elsewhere(
    engine: Engine, program: str, wrong: Misconception, how: str
) -> dict[str, float]:
    """Grade `program` with a wrong helper; return the points that other exercises lose, by name.

    how: the value of `scoring.follow_through`
    """
    engine.judge.rule = msgspec.structs.replace(engine.judge.rule, follow_through=how)
    source = program + wrong.source[len(engine.bank.solution) :]
    report: SubmissionReport = engine.grade(wrong.name, {engine.week.module: source.encode()})
    if report.verdict != "graded":
        raise RuntimeError(f"{wrong.name}: {report.message}")
    if report.unexplained:
        raise RuntimeError(f"{wrong.name}: {', '.join(report.unexplained)}")
    return {
        e.name: e.max_score - e.score
        for e in report.exercises
        if e.name != wrong.exercise and e.max_score - e.score > _NOTHING
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("weeks", nargs="*")
    parser.add_argument("--each", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--sandbox", action="store_true")
    given = parser.parse_args()
    course = load(ROOT)
    weeks = [course.week(w) for w in given.weeks] or list(course.registry.weeks)
    print(HEAD)
    for week in weeks:
        print(measure(course, week, given.each, given.sandbox, given.only).line(), flush=True)


if __name__ == "__main__":
    main()
