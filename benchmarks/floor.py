"""The floor: a submission's calls made bare in one warm process, against all that grading it costs.

    python -m benchmarks.floor [--weeks week01_softmax,…|all] [--n 40]

The calls are those that the hidden tests make of the solution: the same functions, arguments,
backward passes and devices. Bare, they are made one after the other in a process that has made
them before; nothing is encoded, watched, counted, compared or confined. Grading is measured on a
class from the bank, once the engine is warm: processor time of the grader, the sandbox's template
and every submission's process.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import psutil

from autograder.course import Course, Week, load
from autograder.grading import targets
from autograder.grading.engine import Engine
from autograder.sandbox import choose
from autograder.worker import wire
from autograder.worker.execute import Executor

from .measure import ROOT
from .plain import DEVICES
from .results import table, write_section
from .sample import SECRET, course_copy, take

_REPEATS = 5


class Bare(Executor):
    """Makes calls as requests name them, and measures them alone."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0

    def _target(self, request: wire.Call) -> tuple[Any, bool]:
        thing, found = super()._target(request)
        return (self._timed(thing) if found and not request.fetch else thing), found

    def _pull_back(self, *arguments: Any) -> Any:
        return self._timed(super()._pull_back)(*arguments)

    def _timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            started = time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds += time.process_time() - started

        return call


class Recorder:
    """Between an engine and a target: what is asked."""

    def __init__(self, target: targets.Target, frames: list[bytes]) -> None:
        self._target, self._frames = target, frames

    def begin(self, test: str, exercise: str) -> None:
        self._target.begin(test, exercise)

    def request(self, frame: bytes) -> targets.Answer:
        self._frames.append(frame)
        return self._target.request(frame)

    def close(self) -> None:
        self._target.close()


def frames_of(engine: Engine, path: Path) -> list[bytes]:
    """Every request that the hidden tests make of a module."""
    frames: list[bytes] = []
    source = tuple(path.read_text(encoding="utf-8").split("\n"))
    engine.run(Recorder(targets.InProcess(path), frames), source)
    return frames


def bare_seconds(path: Path, frames: list[bytes]) -> float:
    """The median time that the calls took in this process, once they were made before."""
    times = []
    for _ in range(_REPEATS + 1):
        bare = Bare()
        bare.load_module(path, unique=True)
        for frame in frames:
            request, buffers = wire.unpack_request(*targets._split_frame(frame))
            if isinstance(request, wire.Call):
                plain = msgspec.structs.replace(request, not_allowed=(), count=False)
                bare.answer(plain, buffers)
        times.append(bare.seconds)
    return statistics.median(times[1:])


def used() -> float:
    """Processor time of this process and of all that live below it."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    total = own.ru_utime + own.ru_stime
    for process in psutil.Process().children(recursive=True):
        times = process.cpu_times()
        total += times.user + times.system + times.children_user + times.children_system
    return float(total)


def measure(course: Course, week: Week, n: int) -> tuple[int, float, float, float]:
    """Calls, bare seconds, and per submission: of the class's first half, of its second half."""
    engine = Engine(course, week, DEVICES, SECRET, choose())
    try:
        frames = frames_of(engine, course.solution(week))
        bare = bare_seconds(course.solution(week), frames)
        chosen = take(course, week, n + 1)
        halves = [chosen[1 : n // 2 + 1], chosen[n // 2 + 1 :]]
        engine.grade(chosen[0][0], {week.module: chosen[0][1].encode()})
        costs = []
        for half in halves:
            before = used()
            for name, source in half:
                report = engine.grade(name, {week.module: source.encode()})
                assert report.verdict == "graded", report.message
            costs.append((used() - before) / len(half))
    finally:
        engine.close()
    return len(frames), bare, costs[0], costs[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weeks", default="week01_softmax", help="comma-separated, or all")
    parser.add_argument("--n", type=int, default=40, help="submissions of the class")
    chosen = parser.parse_args()
    every = [w.name for w in load(ROOT).weeks]
    rows = []
    for name in every if chosen.weeks == "all" else chosen.weeks.split(","):
        print(f"{name}: the floor", flush=True)
        with tempfile.TemporaryDirectory(prefix="bench-") as place:
            calls, bare, first, second = measure(*course_copy(Path(place) / "c", name), chosen.n)
        milliseconds = [f"{1000 * x:.0f}" for x in (bare, first, second)]
        rows.append((name, str(calls), *milliseconds, f"{second / bare:.1f}"))
    head = ("", "calls", "bare, ms", "first half, ms", "second half, ms", "second / bare")
    write_section(
        "floor",
        "The floor",
        "Processor time of the calls that the hidden tests make of the solution, made bare in one "
        f"warm process, and of grading a submission of a class of {chosen.n} with one warm "
        "engine. In the first half each misconception that is met first is run once, to be "
        f"recognised; a class pays for that once.\n\n{table(head, rows)}",
    )


if __name__ == "__main__":
    main()
