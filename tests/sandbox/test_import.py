"""Imports that fail, and errors that are not failed imports."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from autograder.grading.engine import import_problem
from autograder.grading.outcomes import Crashed
from autograder.grading.targets.confined_process import Spawner
from autograder.grading.targets.sandboxed import Sandboxed
from autograder.model.course import Course, load
from autograder.sandbox import choose
from autograder.worker.protocol import frames
from tests.imports import ROOT

RUNS = b"def f():\n    import os; os._exit(0)\n"
RAISES = RUNS + b"raise ValueError('no')\n"


@pytest.fixture(scope="module")
def course() -> Course:
    return load(ROOT)


@pytest.fixture(scope="module")
def spawner(course: Course) -> Iterator[Spawner]:
    spawner = Spawner(choose(), course, course.weeks[0], ("cpu",))
    yield spawner
    spawner.end()


def test_a_module_that_runs_has_no_problem_and_its_process_is_kept(course, spawner):
    target = Sandboxed(spawner.spawn, "m.py", {"m.py": RUNS}, course.limits(course.weeks[0]))
    assert import_problem(target, "m.py", {"m.py": RUNS}) == ""
    assert target.clocks.starts == 1
    target.close()


def test_an_import_that_fails_after_a_test_was_run_is_that_tests_verdict(course, spawner):
    target = Sandboxed(spawner.spawn, "m.py", {"m.py": RUNS}, course.limits(course.weeks[0]))
    assert import_problem(target, "m.py", {"m.py": RUNS}) == ""
    target.begin("t", "e")
    call = frames.pack(frames.Call("e", None, "f", (), {}, "cpu"), [])
    with pytest.raises(Crashed, match="ended its own process"):
        target.request(call)
    target.swap({"m.py": RAISES})  # as a coin toss at import would have it
    with pytest.raises(Crashed, match="could be imported at first, but not when"):
        target.request(call)
    target.close()


def test_a_wait_at_import_ends_by_the_clock(course, spawner):
    limits = course.limits(course.weeks[0])
    limits = msgspec.structs.replace(limits, call_seconds=0.2)
    source = b"import time\n\ntime.sleep(60)\n"
    target = Sandboxed(spawner.spawn, "m.py", {"m.py": source}, limits)
    assert "its import did not finish in time" in import_problem(target, "m.py", {"m.py": source})
    target.close()
