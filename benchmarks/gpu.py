"""Measure the overhead of tests on a CUDA device, and submissions that share the device.

    python -m benchmarks.gpu [--week week01_softmax] [--n 20] [--device cuda]

Each process that uses CUDA must initialise the device, so the start-up time of a process is also
measured separately. Without a CUDA device, the benchmark exits and leaves RESULTS.md unchanged.
`--device fake-gpu` prints the results for the fake GPU without writing them to RESULTS.md.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from autograder.grading.targets.confined_process import Spawner
from autograder.grading.warmup import warm_engine
from autograder.model.availability import has_cuda
from autograder.model.course import Course, Week
from autograder.sandbox import ChildLimits, choose

from .growth import grade
from .results import table, write_section
from .sample import SECRET, course_copy

_REPEATS = 5


def start_up(course: Course, week: Week, devices: tuple[str, ...]) -> float:
    """Return the median time to start a submission's process, in seconds of wall-clock time."""
    spawner = Spawner(choose(), course, week, devices)
    try:
        spawner.spawn(ChildLimits()).close()
        seconds = []
        for _ in range(_REPEATS):
            started = time.perf_counter()
            child = spawner.spawn(ChildLimits())
            seconds.append(time.perf_counter() - started)
            child.close()
    finally:
        spawner.end()
    return statistics.median(seconds)


def graded(course: Course, week: Week, devices: tuple[str, ...], count: int) -> float:
    """Grade `count` correct submissions one after the other; return the median time in seconds."""
    engine = warm_engine(course, week, devices, SECRET, choose())
    source = course.solution(week).read_text(encoding="utf-8")
    try:
        seconds = []
        for number in range(count + 1):
            report = engine.grade("correct", {week.module: f"{source}\n# {number}".encode()})
            assert report.verdict == "graded", report.message
            assert report.score == report.max_score, report
            seconds.append(report.seconds)
    finally:
        engine.close()
    return statistics.median(seconds[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--week", default="week01_softmax")
    parser.add_argument("--n", type=int, default=20, help="number of submissions")
    parser.add_argument("--device", default="cuda", choices=("cuda", "fake-gpu"))
    chosen = parser.parse_args()
    if chosen.device == "cuda" and not has_cuda():
        print("skipped: this machine has no CUDA device")
        return
    devices = (("cpu",), ("cpu", chosen.device))
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        course, week = course_copy(Path(place) / "course", chosen.week)
        starts = [start_up(course, week, d) for d in devices]
        seconds = [graded(course, week, d, chosen.n) for d in devices]
    rows = [
        (" and ".join(d), f"{1000 * start:.0f}", f"{1000 * each:.0f}")
        for d, start, each in zip(devices, starts, seconds, strict=True)
    ]
    walls = {jobs: grade(chosen.n, jobs, chosen.week, chosen.device).wall for jobs in (1, 2, 4)}
    text = (
        f"{chosen.week}: wall-clock medians of {_REPEATS} process starts, and of {chosen.n} "
        "correct submissions that are graded one after the other.\n\n"
        + table(("devices", "process start-up, ms", "submission, ms"), rows)
        + f"\n\nThe device adds {1000 * (seconds[1] - seconds[0]):.0f} ms per submission, of "
        f"which {1000 * (starts[1] - starts[0]):.0f} ms are start-up. Grading {chosen.n} "
        "submissions that share the device takes "
        + ", ".join(f"{wall:.0f} s with --jobs {jobs}" for jobs, wall in walls.items())
        + ", including the start-up of the graders."
    )
    if chosen.device == "cuda":
        write_section("gpu", "On a GPU", text)
    else:
        print(text)


if __name__ == "__main__":
    main()
