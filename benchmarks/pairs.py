"""Measure the overhead of naming and locating mistakes, in paired runs.

    python -m benchmarks.pairs [WEEK ...] [--wrong 8] [--times 3]

One engine in the sandbox grades each submission twice in a row: first with the baseline settings
(points by tests, no error carried forward, no search for lines), then with the settings of
course.yaml. Correct submissions are the solution and its alternatives. Wrong submissions are drawn
from the bank. Each repetition renames local variables (`benchmarks.generate`). All programs are
graded once before the measurement, so that one-time work, such as running the misconceptions, does
not count.

The table has the median processor times per submission, the median ratio within pairs, and the
ratio of wrong to correct submissions with the settings of course.yaml.

--wrong N  number of wrong submissions
--times N  repetitions of each submission
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

_SECRET = b"how long it takes needs no secret"  # seed of the hidden inputs
_BARE = Scoring(follow_through="none", by="tests"), Suspects(seconds=0.0)


class _Pair(msgspec.Struct):
    """Processor times of one submission in seconds: baseline, and settings of course.yaml."""

    bare: float
    full: float


def pairs(course: Course, week: Week, wrong: int, times: int) -> dict[str, list[_Pair]]:
    """Grade correct and wrong submissions of a week with both settings.

    wrong: number of misconceptions
    times: repetitions of each submission
    """
    engine = warm_engine(course, week, ("cpu", "fake-gpu"), _SECRET, choose())
    full = course.registry.scoring, course.registry.suspects
    ways = [(s, engine.locate_mistakes(lines).judge.names.finder) for s, lines in (_BARE, full)]
    try:
        bank = engine.bank
        correct = [bank.solution, *bank.alternatives.values()]
        chosen = random.Random(0).sample(bank.misconceptions, min(wrong, len(bank.misconceptions)))
        texts = {"correct": correct, "wrong": [m.source for m in chosen]}
        for source in (*texts["correct"], *texts["wrong"]):  # warm-up: do all one-time work
            for way in ways:
                _seconds(engine, variant(source, 0), *way)
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
    print("| week | submissions | baseline | full | ratio |\n| --- | --- | --- | --- | --- |")
    for week in [course.week(w) for w in given.weeks] or course.registry.weeks:
        measured = pairs(course, week, given.wrong, given.times)
        for kind, found in measured.items():
            bare, full = (statistics.median(getattr(p, n) for p in found) for n in ("bare", "full"))
            ratio = statistics.median(p.full / p.bare for p in found)
            print(
                f"| {week.name} | {kind} | {bare:.2f} s | {full:.2f} s | {ratio:.2f} |",
                flush=True,
            )
        correct, wrong = (
            statistics.fmean(p.full for p in measured[kind]) for kind in ("correct", "wrong")
        )
        print(f"| {week.name} | wrong / correct, means | | | {wrong / correct:.2f} |", flush=True)


if __name__ == "__main__":
    main()
