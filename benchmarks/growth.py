"""Larger and larger classes of generated submissions: time, memory, and what a second core gives.

    python -m benchmarks.growth [--week week01_softmax] [--sizes 100,1000] [--full] [--again]

`--again`: the week was graded before, so what the solution and the misconceptions answer is known,
as it is for every batch but the first. `--full` goes on to 10,000. The first size is graded on one
core too. Before anything is measured, a sample of generated submissions is graded beside its
originals: every test must end alike.
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
    """So many different submissions from the bank."""
    bank = sources(course, week)
    return [
        (f"s{n:05}_{bank[n % len(bank)][0]}", variant(bank[n % len(bank)][1], n))
        for n in range(count)
    ]


def differing(course: Course, week: Week, count: int) -> list[str]:
    """Of a sample, the submissions whose variant does not end every test as its original does."""
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
    """One `autograder grade` over a class of that size; one job has one core to itself.

    known: a folder with what earlier batches kept of our own code's answers, and this one adds to.
    """
    print(f"{name}: {size} submissions, {jobs} at a time", flush=True)
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
    parser.add_argument("--again", action="store_true", help="in a week that was graded before")
    parser.add_argument("--full", action="store_true", help="10,000 too")
    chosen = parser.parse_args()
    sizes = [int(s) for s in chosen.sizes.split(",")] + [10_000] * chosen.full
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        wrong = differing(*course_copy(Path(place) / "course", chosen.week), _SAMPLE)
        if wrong:
            parser.exit(1, f"generated submissions do not do what their originals do: {wrong}\n")
        known = Path(place) / "bank" if chosen.again else None
        measure(chosen.week, sizes, known)


def measure(week: str, sizes: list[int], known: Path | None) -> None:
    """Grade classes of these sizes and write what it took."""
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
        "Growth" if known is None else "Growth, in a week that was graded before",
        f"Generated submissions of {week}; a sample was graded beside its originals, and "
        "every test ended alike.\n\n"
        + table(("submissions", "wall s", "CPU s", "CPU s each", "peak MiB"), rows)
        + f"\n\nFrom {sizes[0]} to {sizes[-1]} the wall clock grows with the exponent "
        f"{exponent(first.wall, last.wall, *sizes_apart):.2f}, processor time with "
        f"{exponent(first.cpu, last.cpu, *sizes_apart):.2f}; memory is "
        f"{last.memory / first.memory:.2f} of what it was. Of two cores {sizes[-1]} submissions "
        f"use {last.cpu / (2 * last.wall):.0%}, start-up included; {sizes[0]} take "
        f"{first.cpu / alone.cpu:.2f} of one core's processor time on two.",
    )


def _row(label: str, size: int, cost: Cost) -> tuple[str, ...]:
    return (label, f"{cost.wall:.0f}", f"{cost.cpu:.1f}", f"{cost.cpu / size:.3f}",
            f"{cost.memory:.0f}")  # fmt: skip


if __name__ == "__main__":
    main()
