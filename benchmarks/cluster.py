"""Measure the cost per submission on a Dask cluster, and simulate clusters with more workers.

    python -m benchmarks.cluster [--week week01_softmax] [--sizes 40,160] [--until 4096]

A scheduler and two workers on this machine grade a small class and a large one. The difference
between the two, divided by the difference in size, is the cost per additional submission for the
workers, the scheduler and the client (the process that runs `autograder grade`). These costs are
the parameters of a queueing simulation with up to `--until` workers, in which the client and the
scheduler each handle one submission at a time.

The client also reads all submissions before it sends the first, and shows all results after the
last one has arrived. This overhead is measured by running the same command again when all results
are stored. It is reported separately, because workers do not wait for it between submissions.
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
_EACH = 24  # submissions per simulated worker


@dataclass(frozen=True)
class Shares:
    """Processor time in seconds, per submission or for a whole class.

    worker:    all workers
    scheduler: the scheduler
    client:    the client, while workers are grading
    aside:     the client, before the first submission is sent and after the last result arrives
    """

    worker: float
    scheduler: float
    client: float
    aside: float = 0.0


def busy(shares: Shares, workers: int) -> float:
    """Simulate a cluster; return the utilisation of its workers between 0 and 1.

    Only the middle half of the submissions counts, so that start-up and the end are excluded.
    """
    client = scheduler = 0.0
    free = [0.0] * workers
    order = itertools.count()
    left = workers * _EACH
    # (time, order, next step, worker). Steps: "told" (at the client), "out" (to the worker),
    # "grading", and "back" (to the client)
    events = [(0.0, next(order), "told", worker % workers) for worker in range(AHEAD * workers)]
    heapq.heapify(events)
    ended = []
    while events:
        now, _, step, worker = heapq.heappop(events)
        if step == "told":  # the client receives a result and sends the next submission
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
    """Return the largest number of workers, at most `until`, with a utilisation of `_ENOUGH`.

    The search doubles the number of workers, then bisects to within 2 %.
    """
    good = 1
    while good < until and busy(shares, min(2 * good, until)) >= _ENOUGH:
        good = min(2 * good, until)
    low, high = good, min(2 * good, until)
    while high - low > max(1, low // 50):
        middle = (low + high) // 2
        low, high = (middle, high) if busy(shares, middle) >= _ENOUGH else (low, middle)
    return low


def measured(nodes: Nodes, week: str, size: int) -> Shares:
    """Grade a class of `size` on the cluster; return the processor time of each part in seconds."""
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
    time.sleep(_IDLE_SECONDS)  # measure the scheduler's load while it is idle
    idle = (_used(parts[0]) - after[0]) / _IDLE_SECONDS
    scheduler, *workers = (b - a for a, b in zip(before, after, strict=True))
    return Shares(sum(workers), scheduler - idle * wall, client - aside, aside)


def _used(process: psutil.Process) -> float:
    """Return the processor time of a process and its descendants, including ended ones."""
    total = 0.0
    for one in (process, *process.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            total += sum(one.cpu_times()[:4])
    return total


def _processor_time(command: list[str], cwd: Path, log: Path) -> float:
    """Run a command; return its processor time in seconds.

    `measure.run` cannot be used, because it would wait for the scheduler and the workers.
    """
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=cwd, stdout=output, stderr=output)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"`autograder grade` failed: {log.read_text(errors='replace')[-2000:]}")
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--week", default="week01_softmax")
    parser.add_argument("--sizes", default="40,160", help="two class sizes, comma-separated")
    parser.add_argument(
        "--until", type=int, default=4096, help="largest number of simulated workers"
    )
    chosen = parser.parse_args()
    small, large = (int(size) for size in chosen.sizes.split(","))
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        nodes = Nodes(Path(place) / "nodes", [], Path(place))
        try:
            for _ in range(WORKERS):
                nodes.worker()
            measured(nodes, chosen.week, WORKERS)  # warm-up: the workers import torch
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
    told = f"{most} workers" if most < until else f"{until} workers, the most that were simulated"
    counts = [n for n in (2, 16, 64, 256, 1024, 4096) if n <= until]
    write_section(
        "cluster",
        "A cluster",
        f"Classes of {sizes[0]} and {sizes[1]} submissions for {week}, graded by {WORKERS} Dask "
        "workers on this machine. Processor time per additional submission: "
        f"{1000 * shares.worker:.0f} ms for a worker, {1000 * shares.scheduler:.2f} ms for the "
        f"scheduler and {1000 * shares.client:.2f} ms for the client, which needs another "
        f"{1000 * shares.aside:.2f} ms to read the submission and show its result. In a simulation "
        f"with these costs, the workers' utilisation is at least {_ENOUGH:.0%} with up to {told}."
        "\n\n"
        + table(("workers", "utilisation"), [(str(n), f"{busy(shares, n):.0%}") for n in counts]),
    )


if __name__ == "__main__":
    main()
