"""Killing the grader at any moment loses, duplicates or zeroes no result, and leaves no process."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time

import psutil
import pytest

from tests.faults.conftest import Classroom

# Start-up, sandbox, pool, each result, the report: more moments with AUTOGRADER_KILLS.
KILLS = int(os.environ.get("AUTOGRADER_KILLS", "5"))


@pytest.mark.thorough
def test_a_batch_that_was_killed_again_and_again_ends_as_if_never_killed(
    classroom, right, alive
) -> None:
    started = time.monotonic()
    assert classroom.grade("--jobs", "2")[0] == 0
    whole = time.monotonic() - started
    assert classroom.scores() == right
    moments = random.Random(7)
    results = classroom.course / ".autograder" / "results"
    for kill in range(KILLS):
        if kill % 5 == 0:  # start again, so that every kind of moment recurs
            for path in results.glob("*/*/*.json"):
                path.unlink()
            classroom.report.unlink(missing_ok=True)
        process = classroom.start("--jobs", str(moments.choice((1, 2))))
        # the first part is imports: most kills come after
        deadline = time.monotonic() + whole * moments.uniform(0.2, 1.0)
        while time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.01)
        family = relatives(process.pid)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert not alive(family), "a process outlived the batch"
        if classroom.report.exists():
            assert classroom.scores() == right, "a report was half written"
        for stored in classroom.stored():
            assert stored["verdict"] == "graded"
            assert stored["score"] == right[stored["name"]][1]
    assert classroom.grade("--jobs", "2")[0] == 0
    assert classroom.scores() == right
    assert len(classroom.stored()) == len(right)
    assert not list(classroom.temporary.glob("autograder-work-*")), "solutions are left behind"


@pytest.mark.thorough
def test_a_killed_process_of_the_pool_costs_nobody_anything(classroom, right) -> None:
    process = classroom.start("--jobs", "2")
    assert kill_twice(classroom, process, "spawn_main", grandchildren=1)
    assert process.returncode == 0
    assert classroom.scores() == right


def test_a_killed_sandbox_costs_nobody_anything(classroom, right) -> None:
    process = classroom.start("--jobs", "1")
    assert kill_twice(classroom, process, "bwrap", grandchildren=2)
    assert process.returncode == 0
    assert classroom.scores() == right


def relatives(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def kill_twice(
    classroom: Classroom, process: subprocess.Popen[str], word: str, grandchildren: int
) -> int:
    """Kill children at work whose command holds the word; how many, once the batch is over.

    The second is killed only after another result, because a submission whose sandbox dies twice
    is a fault.
    """
    killed: set[int] = set()
    stored = -1
    while process.poll() is None:
        for child in relatives(process.pid):
            with contextlib.suppress(psutil.NoSuchProcess):
                fits = word in " ".join(child.cmdline()) and child.pid not in killed
                works = fits and len(killed) < 2 and len(relatives(child.pid)) >= grandchildren
                if works and len(classroom.stored()) > stored:
                    stored = len(classroom.stored())
                    child.kill()
                    killed.add(child.pid)
        time.sleep(0.02)
    process.communicate(timeout=300)
    return len(killed)


@pytest.mark.thorough
def test_two_commands_at_once_do_not_harm_each_other(classroom, right) -> None:
    first, second = classroom.start("--jobs", "1"), classroom.start("--jobs", "1")
    for process in (first, second):
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
    assert classroom.scores() == right
    assert len(classroom.stored()) == len(right)
