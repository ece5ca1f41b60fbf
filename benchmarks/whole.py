"""A class from hand-in to grades: collected, graded and recorded, feedback, export.

    python -m benchmarks.whole [--week week01_softmax] [--sizes 1000,10000]

Everybody hands in a program of their own (benchmarks/generate.py) through the exchange; nothing is
known of any of them. Each step is one command, start-up included, on all cores.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from autograder.model.course import Course, Week

from .classes import hand_in, made_course, students
from .generate import variant
from .measure import Cost, run
from .results import exponent, table, write_section
from .sample import sources

_AUTOGRADER = ("-m", "autograder")
# `autograder collect`, but for whose the files are: here one user hands in for all.
_COLLECT = """
from pathlib import Path
from autograder.model.course import load
from autograder.nbgrader.collect.collector import collect
course = load(Path.cwd())
collect(course, course.weeks[0], check_owner=False)
"""
STEPS = {
    "collect": ("-c", _COLLECT),
    "grade and record": (*_AUTOGRADER, "grade", "1"),
    "feedback": (*_AUTOGRADER, "feedback", "1", "--unmarked"),
    "status": (*_AUTOGRADER, "status"),
    "export": (*_AUTOGRADER, "export", "1", "--unmarked"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--week", default="week01_softmax")
    parser.add_argument("--sizes", default="1000,10000", help="two, comma-separated, growing")
    chosen = parser.parse_args()
    first, last = (int(size) for size in chosen.sizes.split(","))
    costs = {size: measure(chosen.week, size) for size in (first, last)}
    rows = []
    for step in STEPS:
        small, large = costs[first][step], costs[last][step]
        rows.append(
            (
                step,
                *(f"{costs[size][step].cpu:.1f}" for size in costs),
                *(f"{costs[size][step].wall:.1f}" for size in costs),
                f"{1000 * large.cpu / last:.1f}",
                f"{exponent(small.cpu, large.cpu, first, last):.2f}",
                f"{exponent(small.wall, large.wall, first, last):.2f}",
                f"{small.memory:.0f}",
                f"{large.memory:.0f}",
            )
        )
    head = ("step", f"{first}, CPU s", f"{last}, CPU s", f"{first}, wall s", f"{last}, wall s",
            f"ms each of {last}", "CPU exponent", "wall exponent", f"{first}, peak MiB",
            f"{last}, peak MiB")  # fmt: skip
    grading = costs[last]["grade and record"]
    used = (
        f"While {last} were graded, {grading.busy:.0%} of two cores were busy. The processes' own "
        f"time is {grading.cpu / (2 * grading.wall):.0%}; the rest is the kernel's, which takes "
        "down the namespaces of those that have ended."
    )
    write_section(
        "whole",
        "A class from hand-in to grades",
        f"Classes that handed in {chosen.week} through the exchange, everybody a program of their "
        "own; nothing was known of any.\n\n" + table(head, rows) + f"\n\n{used}",
    )


def measure(name: str, size: int) -> dict[str, Cost]:
    """What each step costs in a class of that size."""
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        course = made_course(Path(place) / "course", name, 1)
        (week,) = course.weeks
        print(f"{size} students hand in {name}", flush=True)
        hand_in(course, week, modules(course, week, size), students(size))
        log = Path(place) / "log"
        costs = {}
        for step, words in STEPS.items():
            print(f"{step}", flush=True)
            costs[step] = run([sys.executable, *words], course.root, log)
        shutil.rmtree(course.root)
        return costs


def modules(course: Course, week: Week, count: int) -> list[str]:
    """A program for everybody, right and wrong in the bank's shares."""
    bank = [source for _, source in sources(course, week)]
    return [variant(bank[n % len(bank)], n) for n in range(count)]


if __name__ == "__main__":
    main()
