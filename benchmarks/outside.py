"""Measure all steps except grading: recording scores, feedback, status and export.

    python -m benchmarks.outside [--week week01_softmax] [--sizes 150,400] [--weeks 1]

All results are already stored (`benchmarks.classes`), so `grade` only reads, shows and records
them. The second `grade` records the same results again. The course repeats the week `--weeks`
times, and each step is one command. The totals include the start-up of the commands. The cost per
student does not, because it is the difference between the largest and the smallest class divided by
the difference in size.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from autograder.model.course import Course
from autograder.nbgrader.collect.collector import collect

from .classes import Graded, graded_bank, hand_in, made_course, store_results, students
from .measure import Cost, run
from .results import exponent, table, write_section

STEPS = {
    "record": ("grade", "1"),
    "grade again": ("grade", "1"),
    "feedback": ("feedback", "1", "--unmarked"),
    "status": ("status",),
    "export": ("export", "1", "--unmarked"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--week", default="week01_softmax")
    parser.add_argument("--sizes", default="150,400", help="two or more class sizes, increasing")
    parser.add_argument("--weeks", type=int, default=1, help="number of weeks in the course")
    chosen = parser.parse_args()
    sizes = [int(size) for size in chosen.sizes.split(",")]
    if sizes != sorted(set(sizes)) or len(sizes) < 2:
        parser.error("--sizes needs two or more increasing sizes, such as 150,400")
    graded: Graded = []
    costs: dict[int, dict[str, Cost]] = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        for size in sizes:
            course = made_course(Path(place) / str(size), chosen.week, chosen.weeks)
            graded = graded or graded_bank(course, course.weeks[0])
            costs[size] = measure(course, graded, size, Path(place) / f"{size}.log")
            shutil.rmtree(course.root)
    report(chosen.week, chosen.weeks, costs)


def measure(
    course: Course,
    graded: Graded,
    size: int,
    log: Path,
) -> dict[str, Cost]:
    """Return the cost of each step in a class of `size`."""
    for week in course.weeks:
        print(f"{week.name}: {size} students submit", flush=True)
        hand_in(course, week, [module for module, _ in graded], students(size))
        collect(course, week, check_owner=False)
        store_results(course, week, graded, students(size))
    for week in course.weeks[1:]:
        _run(course, ("grade", week.name), log)
    return {name: _run(course, words, log) for name, words in STEPS.items()}


def _run(course: Course, words: tuple[str, ...], log: Path) -> Cost:
    return run([sys.executable, "-m", "autograder", *words], course.root, log)


def report(week: str, weeks: int, costs: dict[int, dict[str, Cost]]) -> None:
    first, last = min(costs), max(costs)
    rows = []
    for step in STEPS:
        small, large = costs[first][step], costs[last][step]
        each = 1000 * (large.cpu - small.cpu) / (last - first)
        rows.append(
            (
                step,
                *(f"{costs[size][step].cpu:.2f}" for size in costs),
                f"{large.wall:.2f}",
                f"{each:.1f}",
                f"{exponent(small.cpu, large.cpu, first, last):.2f}",
                f"{exponent(small.wall, large.wall, first, last):.2f}",
                f"{large.memory:.0f}",
            )
        )
    head = ("step", *(f"{size}, CPU s" for size in costs), f"{last}, wall s", "ms per student",
            "CPU exponent", "wall exponent", "peak MiB")  # fmt: skip
    write_section(
        "outside",
        "Steps other than grading",
        f"Classes that submitted {week} through the exchange, in a course of {weeks} "
        f"{'week' if weeks == 1 else 'weeks'}. All results were already stored, and nbgrader "
        "records them. Each step is one command, including start-up; `ms per student` is the "
        "processor time per additional student.\n\n" + table(head, rows),
    )


if __name__ == "__main__":
    main()
