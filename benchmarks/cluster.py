"""A cluster of two real workers: what one more submission costs each part, and how far that goes.

    python -m benchmarks.cluster [--week week01_softmax] [--sizes 40,160] [--until 4096]

A scheduler and two workers on this machine grade a small class and a larger one. What the larger
one costs more, of the instructor's process and of the scheduler, by submission, is fed into a
simulation of that queue with any number of workers: both hand out and take back one at a time.

The instructor's process reads the class before the first is handed out, and shows it after the
last is back. That is what the same command costs once all is known, and no worker waits for it
between two submissions: it is told apart.
"""

from __future__ import annotations

import argparse
import contextlib
import heapq
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from autograder.batch.cluster.client import AHEAD
from tests.cluster.conftest import Nodes

from .growth import generated
from .results import table, write_section
from .sample import course_copy, lay

WORKERS = 2
_ENOUGH = 0.9
_IDLE_SECONDS = 5.0
_EACH = 24  # submissions that each worker of the simulation grades


@dataclass(frozen=True)
class Shares:
    """Seconds by submission: of a worker, the scheduler, and the instructor's process.

    `aside`: of that process, before the first is handed out and after the last is back.
    """

    worker: float
    scheduler: float
    client: float
    aside: float = 0.0


def busy(shares: Shares, workers: int) -> float:
    """The share of their time in which so many workers grade, once all have begun."""
    client = scheduler = 0.0
    free = [0.0] * workers
    order = itertools.count()
    left = workers * _EACH
    # (when, order, where it goes next, worker): told, out, grading, back
    events = [(0.0, next(order), "told", worker % workers) for worker in range(AHEAD * workers)]
    heapq.heapify(events)
    ended = []
    while events:
        now, _, step, worker = heapq.heappop(events)
        if step == "told":  # the instructor's process takes one and hands out the next
            if not left:
                continue
            left -= 1
            now = client = max(now, client) + shares.client
            step = "out"
        elif step in ("out", "back"):
            now = scheduler = max(now, scheduler) + shares.scheduler / 2
            step = "grading" if step == "out" else "told"
        else:
            now = free[worker] = max(now, free[worker]) + shares.worker
            ended.append(now)
            step = "back"
        heapq.heappush(events, (now, next(order), step, worker))
    ended.sort()
    first, last = len(ended) // 4, 3 * len(ended) // 4
    return shares.worker * (last - first) / (workers * (ended[last] - ended[first]))


def furthest(shares: Shares, until: int) -> int:
    """The most workers, by doubling and halving, that are busy enough."""
    good = 1
    while good < until and busy(shares, min(2 * good, until)) >= _ENOUGH:
        good = min(2 * good, until)
    low, high = good, min(2 * good, until)
    while high - low > max(1, low // 50):
        middle = (low + high) // 2
        low, high = (middle, high) if busy(shares, middle) >= _ENOUGH else (low, middle)
    return low


def measured(nodes: Nodes, week: str, size: int) -> Shares:
    """Of processor time, in seconds, for a whole class."""
    parts = [psutil.Process(process.pid) for process in nodes.processes]
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        course, own = course_copy(Path(place) / "course", week)
        paths = lay(Path(place) / "handed-in", own, generated(course, own, size))
        report = Path(place) / "report.json"
        command = [sys.executable, "-m", "autograder", "grade", own.name]
        command += [f"../handed-in/{path.name}" for path in paths]
        command += ["--cluster", nodes.address, "--device", "fake-gpu", "--json", str(report)]
        before, started = [_used(part) for part in parts], time.monotonic()
        client = _processor_time(command, course.root, Path(place) / "log")
        wall, after = time.monotonic() - started, [_used(part) for part in parts]
        aside = _processor_time(command, course.root, Path(place) / "log")
        graded = json.loads(report.read_text(encoding="utf-8"))["submissions"]
    assert [s["verdict"] for s in graded] == ["graded"] * size
    time.sleep(_IDLE_SECONDS)  # what the scheduler takes for nothing, by the second
    idle = (_used(parts[0]) - after[0]) / _IDLE_SECONDS
    scheduler, *workers = (b - a for a, b in zip(before, after, strict=True))
    return Shares(sum(workers), scheduler - idle * wall, client - aside, aside)


def _used(process: psutil.Process) -> float:
    """A process and all that it started, those that have ended too."""
    total = 0.0
    for one in (process, *process.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            total += sum(one.cpu_times()[:4])
    return total


def _processor_time(command: list[str], cwd: Path, log: Path) -> float:
    """Of one process, beside which others of ours run (so not `measure.run`, which awaits all)."""
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=cwd, stdout=output, stderr=output)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"it failed: {log.read_text(errors='replace')[-2000:]}")
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--week", default="week01_softmax")
    parser.add_argument("--sizes", default="40,160", help="two of them, comma-separated")
    parser.add_argument("--until", type=int, default=4096, help="workers, in the simulation")
    chosen = parser.parse_args()
    small, large = (int(size) for size in chosen.sizes.split(","))
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        nodes = Nodes(Path(place) / "nodes", [], Path(place))
        try:
            for _ in range(WORKERS):
                nodes.worker()
            measured(nodes, chosen.week, WORKERS)  # the workers import what they need
            few, many = (measured(nodes, chosen.week, n) for n in (small, large))
        finally:
            nodes.end()
    more = large - small
    shares = Shares(
        (many.worker - few.worker) / more,
        (many.scheduler - few.scheduler) / more,
        (many.client - few.client) / more,
        (many.aside - few.aside) / more,
    )
    report(chosen.week, (small, large), shares, furthest(shares, chosen.until), chosen.until)


def report(week: str, sizes: tuple[int, int], shares: Shares, most: int, until: int) -> None:
    told = f"{most} workers" if most < until else f"{until} workers, and more were not tried"
    counts = [n for n in (2, 16, 64, 256, 1024, 4096) if n <= until]
    write_section(
        "cluster",
        "A cluster",
        f"Classes of {sizes[0]} and {sizes[1]} of {week}, graded by {WORKERS} Dask workers on this "
        f"machine: one submission more costs a worker {1000 * shares.worker:.0f} ms, "
        f"the scheduler {1000 * shares.scheduler:.2f} ms and the instructor's process "
        f"{1000 * shares.client:.2f} ms of processor time, and {1000 * shares.aside:.2f} ms to "
        f"read the class before and to show it afterwards. Simulated from these, a cluster stays "
        f"busy for {_ENOUGH:.0%} of its time and more up to {told}.\n\n"
        + table(("workers", "busy"), [(str(n), f"{busy(shares, n):.0%}") for n in counts]),
    )


if __name__ == "__main__":
    main()
