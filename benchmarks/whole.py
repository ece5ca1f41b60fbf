"""Measure all steps for a class, from submission to export: collect, grade, feedback, export.

    python -m benchmarks.whole [--week week01_softmax] [--sizes 1000,10000]

Each student submits a different program (`benchmarks.generate`) through the exchange, and no
results are stored. Each step is one command that may use all cores. All costs include start-up.
"""

from __future__ import annotations

import argparse
import os
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
# `autograder collect` without the check of file owners, because one user submits for all students.
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
    parser.add_argument("--sizes", default="1000,10000", help="two class sizes, increasing")
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
            f"{last}, CPU ms per student", "CPU exponent", "wall exponent", f"{first}, peak MiB",
            f"{last}, peak MiB")  # fmt: skip
    grading = costs[last]["grade and record"]
    cores = os.cpu_count() or 1
    used = (
        f"While {last} submissions were graded, the utilisation of all cores was "
        f"{grading.busy:.0%}, of which the command and its descendants account for "
        f"{grading.cpu / (cores * grading.wall):.0%}. The rest is work of the kernel, such as "
        "destroying namespaces, and of other programs."
    )
    write_section(
        "whole",
        "A class from submission to export",
        f"Classes that submitted {chosen.week} through the exchange. Each student submitted a "
        "different program, and no results were stored.\n\n" + table(head, rows) + f"\n\n{used}",
    )


def measure(name: str, size: int) -> dict[str, Cost]:
    """Return the cost of each step in a class of `size`; `name` is the week."""
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        course = made_course(Path(place) / "course", name, 1)
        (week,) = course.weeks
        print(f"{name}: {size} students submit", flush=True)
        hand_in(course, week, modules(course, week, size), students(size))
        log = Path(place) / "log"
        costs = {}
        for step, words in STEPS.items():
            print(f"{step}", flush=True)
            costs[step] = run([sys.executable, *words], course.root, log)
        shutil.rmtree(course.root)
        return costs


def modules(course: Course, week: Week, count: int) -> list[str]:
    """Generate `count` different programs, with as many wrong ones as in the bank."""
    bank = [source for _, source in sources(course, week)]
    return [variant(bank[n % len(bank)], n) for n in range(count)]


if __name__ == "__main__":
    main()
