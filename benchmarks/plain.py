"""The same hidden tests in the student's own process, for graders that work that way.

They see the same inputs, make the same calls on the same devices and compare in the same way. What
is left out is what such graders do not do: a sandbox, and naming the misconception.
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
    """Run a week's hidden tests (of one exercise) on a module file; the names of those failed."""
    path = Path(module).resolve()
    runs = _engine(root, week).runs
    ran = runs.run(_module(path), runs.files(path.read_text(encoding="utf-8")), exercise)
    return [r.report.name for r in ran if r.report.verdict not in ("pass", "not_run")]


def check(root: str, week: str, module: str, exercise: str) -> None:
    """What a hidden cell says."""
    failed = failures(root, week, module, exercise)
    assert not failed, f"{len(failed)} tests failed: {failed[0]}"


def main() -> None:
    """One pytest process for one submission: root, week, module, and the file to write."""
    root, week, module, out = sys.argv[1:]
    engine = _engine(root, week)
    failed = failures(root, week, module)
    exercises = [e.name for e in engine.week.exercises]
    passed = {e: not any(f.startswith(f"test_{e}.py::") for f in failed) for e in exercises}
    Path(out).write_text(json.dumps(passed), encoding="utf-8")
    engine.close()


if __name__ == "__main__":
    main()
