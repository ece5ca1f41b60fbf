"""Measure how time and memory grow with the size of a class, and the speedup of a second core.

    python -m benchmarks.growth [--week week01_softmax] [--sizes 100,1000] [--full] [--again]

The submissions are variants of the bank's programs (`benchmarks.generate`). Before the measurement,
a sample of variants and their originals is graded, and every test must have the same verdict for
both. The smallest class is also graded on one core.

--full   also grade a class of 10,000
--again  start with cached outputs of the solution and the misconceptions, as in every batch of a
         week except the first
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

from autograder.grading.warmup import warm_engine
from autograder.model.course import Course, Week
from autograder.sandbox import choose

from .generate import variant
from .measure import Cost, run
from .plain import DEVICES
from .results import exponent, table, write_section
from .sample import SECRET, course_copy, lay, sources

_SAMPLE = 12


def generated(course: Course, week: Week, count: int) -> list[tuple[str, str]]:
    """Generate `count` different submissions, as (name, source)."""
    bank = sources(course, week)
    return [
        (f"s{n:05}_{bank[n % len(bank)][0]}", variant(bank[n % len(bank)][1], n))
        for n in range(count)
    ]


def differing(course: Course, week: Week, count: int) -> list[str]:
    """Grade about `count` programs and a variant of each.

    Return the names of programs whose variant has a different verdict in any test.
    """
    engine = warm_engine(course, week, DEVICES, SECRET, choose())
    bank = sources(course, week)
    wrong = []
    try:
        for number in range(0, len(bank), max(1, len(bank) // count)):
            name, source = bank[number]
            ends = []
            for text in (source, variant(source, number)):
                report = engine.grade(name, {week.module: text.encode()})
                ends.append([(t.name, t.verdict) for e in report.exercises for t in e.tests])
            if ends[0] != ends[1]:
                wrong.append(name)
    finally:
        engine.close()
    return wrong


def grade(
    size: int, jobs: int, name: str, device: str = "fake-gpu", known: Path | None = None
) -> Cost:
    """Run `autograder grade` on a class of `size`; return the cost. One job is pinned to one core.

    name:  the week
    known: folder for the cached outputs of the course's own programs, which the run reads and
           extends; None starts without a cache
    """
    print(f"{name}: {size} submissions, {jobs} jobs", flush=True)
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        course, week = course_copy(Path(place) / "course", name)
        bank = course.state / "bank"
        if known is not None and known.exists():
            shutil.copytree(known, bank)
        paths = lay(Path(place) / "handed-in", week, generated(course, week, size))
        report = Path(place) / "report.json"
        command = ["taskset", "--cpu-list", "0"] if jobs == 1 else []
        command += [sys.executable, "-m", "autograder", "grade", week.name]
        command += [f"../handed-in/{path.name}" for path in paths]
        command += ["--jobs", str(jobs), "--device", device, "--json", str(report)]
        cost = run(command, course.root, Path(place) / "log")
        if known is not None:
            shutil.copytree(bank, known, dirs_exist_ok=True)
        graded = json.loads(report.read_text(encoding="utf-8"))["submissions"]
        assert len(graded) == size
        assert all(s["verdict"] == "graded" for s in graded)
        return cost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--week", default="week01_softmax")
    parser.add_argument("--sizes", default="100,1000", help="comma-separated")
    parser.add_argument(
        "--again", action="store_true", help="start with the caches of an earlier batch"
    )
    parser.add_argument("--full", action="store_true", help="also grade a class of 10,000")
    chosen = parser.parse_args()
    sizes = [int(s) for s in chosen.sizes.split(",")] + [10_000] * chosen.full
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        wrong = differing(*course_copy(Path(place) / "course", chosen.week), _SAMPLE)
        if wrong:
            parser.exit(
                1, f"these variants have different verdicts than their originals: {wrong}\n"
            )
        known = Path(place) / "bank" if chosen.again else None
        measure(chosen.week, sizes, known)


def measure(week: str, sizes: list[int], known: Path | None) -> None:
    """Grade classes of these sizes, and write the section to RESULTS.md."""
    if known is not None:
        grade(sizes[0], 2, week, known=known)
    alone = grade(sizes[0], 1, week, known=known)
    costs = {size: grade(size, 2, week, known=known) for size in sizes}
    first, last = costs[sizes[0]], costs[sizes[-1]]
    rows = [_row(f"{size}, two cores", size, cost) for size, cost in costs.items()]
    rows.append(_row(f"{sizes[0]}, one core", sizes[0], alone))
    sizes_apart = sizes[0], sizes[-1]
    write_section(
        "growth" if known is None else "again",
        "Scaling with class size" if known is None else "Scaling with class size, cached outputs",
        f"Generated submissions for {week}. In a sample, every test had the same verdict for a "
        "variant and its original.\n\n"
        + table(("submissions", "wall s", "CPU s", "CPU s per submission", "peak MiB"), rows)
        + f"\n\nFrom {sizes[0]} to {sizes[-1]} submissions, wall-clock time grows with exponent "
        f"{exponent(first.wall, last.wall, *sizes_apart):.2f} and processor time with exponent "
        f"{exponent(first.cpu, last.cpu, *sizes_apart):.2f}. Peak memory changes by a factor of "
        f"{last.memory / first.memory:.2f}. The utilisation of two cores is "
        f"{last.cpu / (2 * last.wall):.0%} for {sizes[-1]} submissions, including start-up. For "
        f"{sizes[0]} submissions, two cores need {first.cpu / alone.cpu:.2f} times the processor "
        "time of one core.",
    )


def _row(label: str, size: int, cost: Cost) -> tuple[str, ...]:
    return (label, f"{cost.wall:.0f}", f"{cost.cpu:.1f}", f"{cost.cpu / size:.3f}",
            f"{cost.memory:.0f}")  # fmt: skip


if __name__ == "__main__":
    main()
