"""Compare the processor time of grading with a lower bound: the function calls alone.

    python -m benchmarks.floor [--weeks week01_softmax,…|all] [--n 8]

The lower bound has two parts:

- Bare calls: the calls that the hidden tests make to the solution, with the same functions,
  arguments, backward passes and devices. A warm process makes them one after the other. It does not
  count operations, encode or compare results, or use a sandbox, and no function is forbidden.
- An empty process: forked from the fork server, confined in new namespaces, and ended immediately.

A grader that isolates submissions from each other cannot be faster than the sum of both.

Grading is measured with a warm engine that has already run the misconceptions: for the solution,
and for a class of `--n` submissions from the bank. The processor time includes the grader, the fork
server and the submissions' processes, and the time to locate mistakes.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import psutil

from autograder.grading.engine import Engine
from autograder.grading.targets import in_process
from autograder.grading.targets.confined_process import Spawner
from autograder.grading.warmup import warm_engine
from autograder.model.course import Course, Week, load
from autograder.sandbox import ChildLimits, choose
from autograder.worker import executor
from autograder.worker.protocol import frames as wire

from .measure import ROOT
from .plain import DEVICES
from .results import table, write_section
from .sample import SECRET, course_copy, take

_REPEATS = 5
_FORKS = 40


class Bare(executor.Executor):
    """An executor that measures only the requested calls and their backward passes.

    seconds: processor time of these calls
    calls, backward_passes: how many were measured
    """

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0
        self.calls = self.backward_passes = 0

    def answer(self, request: wire.Answered, buffers: list[memoryview]) -> bytes:
        with patch.object(executor, "pulled_back", self._backward(executor.pulled_back)):
            return super().answer(request, buffers)

    def _target(self, request: wire.Call) -> Any:
        thing = super()._target(request)
        if thing is None or request.fetch:
            return thing
        self.calls += 1
        return self._timed(thing)

    def _backward(self, pulled_back: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that measures a backward pass, without encoding its gradients."""

        def run(*args: Any) -> Any:
            *others, _encoder = args
            self.backward_passes += 1
            return self._timed(pulled_back)(*others, lambda gradient: None)

        return run

    def _timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            started = time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds += time.process_time() - started

        return call


class Recorder:
    """A target that records all request frames, and forwards them to a different target."""

    def __init__(self, target: in_process.Target, frames: list[bytes]) -> None:
        self._target, self._frames = target, frames

    def begin(self, test: str, exercise: str) -> None:
        self._target.begin(test, exercise)

    def request(self, frame: bytes) -> wire.Answer:
        self._frames.append(frame)
        return self._target.request(frame)

    def close(self) -> None:
        self._target.close()


def frames_of(engine: Engine, path: Path) -> list[bytes]:
    """Run the hidden tests on the module at `path`; return all request frames."""
    frames: list[bytes] = []
    source = path.read_text(encoding="utf-8")
    engine.runs.run(Recorder(in_process.InProcess(path), frames), engine.runs.files(source))
    return frames


def bare_seconds(path: Path, frames: list[bytes]) -> float:
    """Return the median processor time of the requested calls in this process, in seconds.

    Every repetition imports the module again. The first one is a warm-up, and does not count.
    Raise RuntimeError if calls or backward passes were not measured.
    """
    times = []
    for _ in range(_REPEATS + 1):
        bare = Bare()
        bare.load_module(path, unique=True)
        passes = 0
        for frame in frames:
            request, buffers = wire.request_of(frame)
            if isinstance(request, wire.Call):
                plain = msgspec.structs.replace(
                    request, not_allowed=(), count=False, kernels_only=False
                )
                passes += request.cotangents is not None
                bare.answer(plain, buffers)
        if not bare.calls or bool(passes) != bool(bare.backward_passes):
            raise RuntimeError(
                f"{path.name}: measured {bare.calls} calls and {bare.backward_passes} backward "
                f"passes; {passes} requests need a backward pass. Does Bare still match Executor?"
            )
        times.append(bare.seconds)
    return statistics.median(times[1:])


def used() -> float:
    """Return the processor time of this process and its running descendants, in seconds."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    total = own.ru_utime + own.ru_stime
    for process in psutil.Process().children(recursive=True):
        times = process.cpu_times()
        total += times.user + times.system + times.children_user + times.children_system
    return float(total)


@dataclass(frozen=True)
class Floor:
    """Processor times in seconds.

    calls: number of requests, which is not a time
    bare:  the bare calls for the solution
    fork:  an empty process
    right: grading the solution
    mixed: grading a submission from the bank, on average
    once:  running all misconceptions
    """

    calls: int
    bare: float
    fork: float
    right: float
    mixed: float
    once: float

    def row(self, name: str) -> tuple[str, ...]:
        parts = (self.bare, self.fork, self.right, self.mixed)
        least = self.bare + self.fork
        ratios = (self.right / self.bare, self.right / least, self.mixed / least)
        return (
            name,
            str(self.calls),
            *(f"{1000 * seconds:.0f}" for seconds in parts),
            *(f"{ratio:.1f}" for ratio in ratios),
            f"{self.once:.1f}",
        )


def measure(course: Course, week: Week, n: int) -> Floor:
    """Measure the lower bound, and grading the solution and `n` submissions from the bank."""
    fork = fork_seconds(course, week)
    engine = warm_engine(course, week, DEVICES, SECRET, choose())
    engine.locate_mistakes(course.registry.suspects)
    try:
        frames = frames_of(engine, course.solution(week))
        bare = bare_seconds(course.solution(week), frames)
        chosen = take(course, week, n + 1)
        _, solution = chosen.pop(0)
        for text in (solution, f"{solution}\n# again"):  # the fork server allocates huge pages once
            _grade(engine, [("solution", text)])
        before = used()
        for exercise in week.exercises:
            engine.runs.of_misconceptions(exercise.name)
        once = used() - before
        right = _grade(engine, [(f"r{i}", f"{solution}\n# {i}") for i in range(2 * _REPEATS)])
        mixed = _grade(engine, chosen)
    finally:
        engine.close()
    return Floor(len(frames), bare, fork, right, mixed, once)


def limit(course: Course, week: Week) -> float:
    """Return the lower bound for the solution: bare calls plus an empty process, in seconds."""
    engine = warm_engine(course, week, DEVICES, SECRET, choose())
    try:
        frames = frames_of(engine, course.solution(week))
    finally:
        engine.close()
    return bare_seconds(course.solution(week), frames) + fork_seconds(course, week)


def fork_seconds(course: Course, week: Week) -> float:
    """Return the mean processor time of an empty process, in seconds.

    The process is forked from a warm fork server, confined, and ended immediately.
    """
    limits = course.limits(week)
    spawner = Spawner(choose(), course, week, DEVICES)
    bounds = ChildLimits(
        memory_bytes=limits.memory_mib << 20,
        processes=limits.processes,
        disk_bytes=limits.disk_mib << 20,
        open_files=limits.open_files,
        cpu_seconds=limits.cpu_seconds,
    )
    try:
        for _ in range(2):
            spawner.spawn(bounds).close()
        before = used()
        for _ in range(_FORKS):
            spawner.spawn(bounds).close()
        return (used() - before) / _FORKS
    finally:
        spawner.end()


def _grade(engine: Engine, chosen: list[tuple[str, str]]) -> float:
    """Grade submissions, given as (name, source); return the mean processor time in seconds."""
    before = used()
    for name, source in chosen:
        report = engine.grade(name, {engine.week.module: source.encode()})
        assert report.verdict == "graded", report.message
    return (used() - before) / len(chosen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weeks", default="all", help="comma-separated, or all")
    parser.add_argument("--n", type=int, default=8, help="number of submissions in the class")
    chosen = parser.parse_args()
    every = [w.name for w in load(ROOT).weeks]
    rows = []
    for name in every if chosen.weeks == "all" else chosen.weeks.split(","):
        print(f"{name}: measuring the lower bound", flush=True)
        with tempfile.TemporaryDirectory(prefix="bench-") as place:
            rows.append(measure(*course_copy(Path(place) / "c", name), chosen.n).row(name))
    head = ("week", "calls", "bare calls, ms", "empty process, ms", "correct submission, ms",
            "class mean, ms", "correct / calls", "correct / bound", "class / bound",
            "all misconceptions, s")  # fmt: skip
    write_section(
        "floor",
        "Lower bound",
        "Processor times. Bare calls: the calls that the hidden tests make to the solution, in a "
        "warm process, without counting operations or comparing results. Empty process: a process "
        "in new namespaces that runs no code. The bound is the sum of both. The other times are "
        "for grading with a warm engine, including locating mistakes: the solution, and the mean "
        f"of {chosen.n} submissions from the bank. The misconceptions run once for each version of "
        f"the hidden tests.\n\n{table(head, rows)}",
    )


if __name__ == "__main__":
    main()
