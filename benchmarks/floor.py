"""The floor: a submission's calls made bare in one warm process, against all that grading it costs.

    python -m benchmarks.floor [--weeks week01_softmax,…|all] [--n 8]

The calls are those that the hidden tests make of the solution: the same functions, arguments,
backward passes and devices. Bare, they are made one after the other in a process that has made
them before; nothing is encoded, watched, counted, compared or confined. Beside them stands what a
process in fresh namespaces costs that is forked, confined and ended, and does nothing: less than
both no grader can take that keeps submissions apart. Grading is measured on a class from the bank,
once the engine is warm and has run the misconceptions: processor time of the grader, the sandbox's
template and every submission's process, lines of mistakes included.
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

import msgspec
import psutil

from autograder.grading.engine import Engine
from autograder.grading.targets import in_process
from autograder.grading.targets.spawner import Spawner
from autograder.grading.warmup import warm_engine
from autograder.model.course import Course, Week, load
from autograder.sandbox import ChildLimits, choose
from autograder.worker.executor import Executor
from autograder.worker.protocol import frames as wire

from .measure import ROOT
from .plain import DEVICES
from .results import table, write_section
from .sample import SECRET, course_copy, take

_REPEATS = 5
_FORKS = 40


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

    def __init__(self, target: in_process.Target, frames: list[bytes]) -> None:
        self._target, self._frames = target, frames

    def begin(self, test: str, exercise: str) -> None:
        self._target.begin(test, exercise)

    def request(self, frame: bytes) -> in_process.Answer:
        self._frames.append(frame)
        return self._target.request(frame)

    def close(self) -> None:
        self._target.close()


def frames_of(engine: Engine, path: Path) -> list[bytes]:
    """Every request that the hidden tests make of a module."""
    frames: list[bytes] = []
    source = path.read_text(encoding="utf-8")
    engine.runs.run(Recorder(in_process.InProcess(path), frames), engine.runs.files(source))
    return frames


def bare_seconds(path: Path, frames: list[bytes]) -> float:
    """The median time that the calls took in this process, once they were made before."""
    times = []
    for _ in range(_REPEATS + 1):
        bare = Bare()
        bare.load_module(path, unique=True)
        for frame in frames:
            request, buffers = wire.unpack_request(*in_process._split_frame(frame))
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


@dataclass(frozen=True)
class Floor:
    """Seconds of processor time of a submission, but for `calls`; `once`: of all misconceptions."""

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
    """What a right submission and a class of `n` cost, and the least that they could."""
    fork = fork_seconds(course, week)
    engine = warm_engine(course, week, DEVICES, SECRET, choose())
    engine.locate_mistakes(course.registry.suspects)
    try:
        frames = frames_of(engine, course.solution(week))
        bare = bare_seconds(course.solution(week), frames)
        chosen = take(course, week, n + 1)
        _, solution = chosen.pop(0)
        for text in (solution, f"{solution}\n# again"):  # a template makes large pages once
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
    """What a right submission's calls take bare, and a process to make them in."""
    engine = warm_engine(course, week, DEVICES, SECRET, choose())
    try:
        frames = frames_of(engine, course.solution(week))
    finally:
        engine.close()
    return bare_seconds(course.solution(week), frames) + fork_seconds(course, week)


def fork_seconds(course: Course, week: Week) -> float:
    """Mean of a process that is forked from a warm template, confined and ended at once."""
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
    """Mean processor seconds."""
    before = used()
    for name, source in chosen:
        report = engine.grade(name, {engine.week.module: source.encode()})
        assert report.verdict == "graded", report.message
    return (used() - before) / len(chosen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weeks", default="all", help="comma-separated, or all")
    parser.add_argument("--n", type=int, default=8, help="submissions of the class")
    chosen = parser.parse_args()
    every = [w.name for w in load(ROOT).weeks]
    rows = []
    for name in every if chosen.weeks == "all" else chosen.weeks.split(","):
        print(f"{name}: the floor", flush=True)
        with tempfile.TemporaryDirectory(prefix="bench-") as place:
            rows.append(measure(*course_copy(Path(place) / "c", name), chosen.n).row(name))
    head = ("", "calls", "bare, ms", "a fork, ms", "a right one, ms", "of the class, ms",
            "right / bare", "right / (bare + fork)", "class / (bare + fork)",
            "misconceptions, once, s")  # fmt: skip
    write_section(
        "floor",
        "The floor",
        "Processor time of the calls that the hidden tests make of the solution, made bare in one "
        "warm process; of a process in fresh namespaces that does nothing; of grading a submission "
        f"with one warm engine, a right one and the mean of {chosen.n} from the bank, lines of "
        "mistakes included; and of running all misconceptions, to be recognised later, once per "
        f"version of the graders.\n\n{table(head, rows)}",
    )


if __name__ == "__main__":
    main()
