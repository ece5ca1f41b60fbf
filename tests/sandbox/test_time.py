"""Outcomes of calls that were stopped, or not made, because time was used up."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import pytest

from autograder.grading.outcomes import TimedOut
from autograder.grading.targets.confined_process import Spawner
from autograder.grading.targets.sandboxed import Sandboxed
from autograder.model.course import load
from autograder.sandbox import choose
from autograder.worker.protocol import frames
from tests.imports import ROOT

MODULE = b"""
import time

def works(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass

def sleeps():
    time.sleep(60)
"""


@pytest.fixture(scope="module")
def spawner() -> Iterator[Spawner]:
    course = load(ROOT)
    spawner = Spawner(choose(), course, course.weeks[0], ("cpu",))
    yield spawner
    spawner.end()


@pytest.fixture
def said(spawner: Spawner) -> Iterator[Callable[..., str]]:
    """Make a call of one exercise under these limits; return the message of its outcome."""
    targets: list[Sandboxed] = []

    def said(path: str, *args: frames.Value, **limits: float) -> str:
        if not targets:
            course = load(ROOT)
            given = msgspec.structs.replace(course.limits(course.weeks[0]), **limits)
            targets.append(Sandboxed(spawner.spawn, "m.py", {"m.py": MODULE}, given))
            targets[0].begin("t", "e")
        try:
            targets[0].request(frames.pack(frames.Call("e", None, path, args, {}, "cpu"), []))
        except TimedOut as outcome:
            return outcome.message
        return ""

    yield said
    for target in targets:
        target.close()


def test_a_call_that_computes_without_end_is_told_its_own_limit(said):
    assert said("works", 60.0, call_seconds=0.3) == (
        "The call was stopped after 0.3 seconds. Is there a loop that never ends?"
    )


def test_a_call_that_waits_is_not_said_to_loop(said):
    assert said("sleeps", call_seconds=0.3) == (
        "The call was stopped after 0.3 seconds. "
        "It was idle for most of them: in `time.sleep`, or waiting for a lock?"
    )


def test_what_is_left_of_the_exercise_is_not_told_as_the_limit_of_a_call(said):
    limits = {"call_seconds": 5.0, "exercise_seconds": 0.6}
    used_up = "the calls of this exercise used up its 0.6 seconds"
    assert said("works", 0.3, **limits) == ""
    assert said("works", 60.0) == f"The call was stopped: {used_up}."
    assert said("works", 0.0) == f"Not run: {used_up}."
    assert said("works", 0.0) == f"Not run: {used_up}."


def test_the_submissions_time_is_told_as_such(said):
    assert said("works", 60.0, call_seconds=5.0, submission_seconds=0.3) == (
        "The call was stopped: its calls used up the submission's 0.3 seconds."
    )


def test_after_two_calls_that_were_stopped_others_are_not_made(said):
    for _ in range(2):
        assert said("works", 60.0, call_seconds=0.2).startswith("The call was stopped after 0.2")
    assert said("works", 0.0).startswith("Not run: two calls of this exercise were stopped")
