"""Processor time per submission with and without what looks at mistakes, in pairs.

The same submission is graded twice in turn by one engine in the sandbox: bare (points by tests,
nothing inherited, no search for lines) and as course.yaml says. Right submissions are the solution
and its alternatives; wrong ones are drawn from the bank, each time with other names of variables.
All were graded before: what is done once for a cause or a helper of a class is no submission's own.
Printed is the median of each, and of the ratio within pairs; at last, wrong against right.

    python -m benchmarks.pairs [WEEK ...] [--wrong 8] [--times 3]
"""

from __future__ import annotations

import argparse
import random
import statistics

import msgspec

from autograder.grading.engine import Engine
from autograder.grading.localization.localizer import LineFinder
from autograder.grading.warmup import warm_engine
from autograder.model.course import Course, Scoring, Suspects, Week, load
from autograder.sandbox import choose

from .floor import used
from .generate import variant
from .measure import ROOT

_SECRET = b"how long it takes needs no secret"
_BARE = Scoring(follow_through="none", by="tests"), Suspects(seconds=0.0)


class _Pair(msgspec.Struct):
    """Seconds of one submission, bare and in full."""

    bare: float
    full: float


def pairs(course: Course, week: Week, wrong: int, times: int) -> dict[str, list[_Pair]]:
    """Grade right and wrong submissions of a week, both ways in turn."""
    engine = warm_engine(course, week, ("cpu", "fake-gpu"), _SECRET, choose())
    full = course.registry.scoring, course.registry.suspects
    ways = [(s, engine.locate_mistakes(lines).judge.names.finder) for s, lines in (_BARE, full)]
    try:
        bank = engine.bank
        right = [bank.solution, *bank.alternatives.values()]
        chosen = random.Random(0).sample(bank.misconceptions, min(wrong, len(bank.misconceptions)))
        texts = {"right": right, "wrong": [m.source for m in chosen]}
        for sources in texts.values():  # what is done once for a class is not a submission's
            for source in sources:
                _seconds(engine, variant(source, 0), *ways[1])
        return {
            kind: [
                _Pair(*(_seconds(engine, variant(source, turn), *way) for way in ways))
                for turn in range(1, 1 + times)
                for source in sources
            ]
            for kind, sources in texts.items()
        }
    finally:
        engine.close()


def _seconds(engine: Engine, source: str, scoring: Scoring, finder: LineFinder | None) -> float:
    engine.judge.rule, engine.judge.names.finder = scoring, finder
    before = used()
    report = engine.grade("student", {engine.week.module: source.encode()})
    if report.verdict != "graded":
        raise RuntimeError(report.message)
    return used() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("weeks", nargs="*")
    parser.add_argument("--wrong", type=int, default=8)
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    course = load(ROOT)
    print("| week | submissions | bare | in full | ratio |\n| --- | --- | --- | --- | --- |")
    for week in [course.week(w) for w in given.weeks] or course.registry.weeks:
        measured = pairs(course, week, given.wrong, given.times)
        for kind, found in measured.items():
            bare, full = (statistics.median(getattr(p, n) for p in found) for n in ("bare", "full"))
            ratio = statistics.median(p.full / p.bare for p in found)
            print(
                f"| {week.name} | {kind} | {bare:.2f} s | {full:.2f} s | {ratio:.2f} |", flush=True
            )
        right, wrong = (statistics.fmean(p.full for p in measured[k]) for k in ("right", "wrong"))
        print(f"| {week.name} | wrong / right, means | | | {wrong / right:.2f} |", flush=True)


if __name__ == "__main__":
    main()
