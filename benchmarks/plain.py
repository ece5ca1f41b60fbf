"""Run the hidden tests in the student's process, for graders without isolation.

The tests use the same inputs, calls, devices and comparisons as the kit. There is no sandbox, and
no misconceptions are named, because these graders do neither.

    python -m benchmarks.plain ROOT WEEK MODULE OUT

writes to the JSON file OUT, for each exercise, whether MODULE passes all hidden tests.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path

from autograder.grading.engine import Engine
from autograder.grading.targets.in_process import InProcess
from autograder.model.course import load

from .sample import SECRET

DEVICES = ("cpu", "fake-gpu")


@cache
def _engine(root: str, week: str) -> Engine:
    course = load(Path(root))
    return Engine(course, course.week(week), DEVICES, SECRET, None)


@cache
def _module(path: Path) -> InProcess:
    return InProcess(path)


def failures(root: str, week: str, module: str, exercise: str | None = None) -> list[str]:
    """Run a week's hidden tests on a module file; return the names of the failed tests.

    root:     folder of the course
    module:   path of the module
    exercise: the exercise to test; None tests all exercises
    """
    path = Path(module).resolve()
    runs = _engine(root, week).runs
    ran = runs.run(_module(path), runs.files(path.read_text(encoding="utf-8")), exercise)
    return [r.report.name for r in ran if r.report.verdict.reported]


def check(root: str, week: str, module: str, exercise: str) -> None:
    """Raise AssertionError if a hidden test of the exercise fails; hidden cells call this."""
    failed = failures(root, week, module, exercise)
    assert not failed, f"{len(failed)} tests failed, the first is {failed[0]}"


def main() -> None:
    """Grade one submission; the arguments are described in the module's docstring."""
    root, week, module, out = sys.argv[1:]
    engine = _engine(root, week)
    failed = failures(root, week, module)
    exercises = [e.name for e in engine.week.exercises]
    passed = {e: not any(f.startswith(f"test_{e}.py::") for f in failed) for e in exercises}
    Path(out).write_text(json.dumps(passed), encoding="utf-8")
    engine.close()


if __name__ == "__main__":
    main()
