"""Test that each limit in course.yaml ends a submission that exceeds it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import msgspec
import pytest

from autograder.batch.intake import Submission
from autograder.sandbox import SandboxMissing, choose
from autograder.worker.isolation.lockdown import DRIVERS_BYTES
from tests.attacks.laboratory import ATTACKED, DEVICE, Laboratory

WEEK = "week01_softmax"
ROOMY = {
    "call_seconds": 20.0,
    "exercise_seconds": 40.0,
    "submission_seconds": 60.0,
    "cpu_seconds": 60,
    "memory_mib": 512,
}
# Bytes of host memory: a GPU driver has a quota in addition to the submission's.
TOO_MUCH = (64 << 20) + (DRIVERS_BYTES if DEVICE == "cuda" else 0)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    try:
        choose(ATTACKED)
    except SandboxMissing as error:
        pytest.skip(str(error))
    laboratory = Laboratory(tmp_path_factory.mktemp("limits"), (WEEK,))
    laboratory.honest(WEEK)
    yield laboratory
    laboratory.close()


def graded(lab: Laboratory, body: str, **limits: float):
    """Grade a softmax with one small limit and generous values for all others."""
    engine = lab.engine(WEEK)
    engine.limits = msgspec.structs.replace(engine.limits, **(ROOMY | limits))
    if "reply_mib" in limits:  # the only limit that is passed to the template
        engine.renew_sandbox(lab.sandbox)
    lines = "\n    ".join(body.strip().split("\n"))
    source = f"{lab.solution(WEEK)}\n\ndef softmax(x, dim=-1):\n    {lines}\n"
    return lab.grade(Submission("mallory", {"softmax.py": source.encode()}), WEEK)


@pytest.mark.parametrize(
    ("limit", "value", "verdict", "body"),
    [
        ("call_seconds", 0.5, "timeout", "import time\ntime.sleep(60)"),
        ("exercise_seconds", 0.5, "timeout", "import time\ntime.sleep(60)"),
        ("submission_seconds", 0.5, "timeout", "import time\ntime.sleep(60)"),
        ("cpu_seconds", 1, "limit", "while True: pass"),
        ("memory_mib", 32, "limit", f"return bytearray({TOO_MUCH})"),
        ("memory_mib", 32, "limit", f"return torch.ones({TOO_MUCH})"),
        ("disk_mib", 1, "limit", "for n in '1234': open(f'/tmp/{n}', 'wb').write(bytes(1 << 19))"),
        ("reply_mib", 1, "limit", "return torch.ones(1 << 20)"),
        ("open_files", 8, "crashed", "return [open('/dev/null') for _ in range(20)]"),
        ("processes", 0, "crashed", "import os\nos.waitpid(getattr(os, 'krof'[::-1])(), 0)"),
    ],
)  # fmt: skip
def test_beyond_a_limit(lab: Laboratory, limit: str, value: float, verdict: str, body: str) -> None:
    found = graded(lab, body, **{limit: value}).verdicts("softmax")
    assert verdict in found
    assert found <= {verdict, "wrong"}  # the fake device has no memory limit


def test_below_all_limits_nothing_is_noticed(lab: Laboratory) -> None:
    body = "e = torch.exp(x - x.amax(dim, keepdim=True))\nreturn e / e.sum(dim, keepdim=True)"
    trial = graded(lab, body, memory_mib=256, disk_mib=4, reply_mib=4, open_files=32)
    assert trial.verdicts("softmax") == {"pass"}


def test_processes_that_are_allowed_are_counted(lab: Laboratory) -> None:
    body = """
import os, time
made = 0
try:
    while True:
        if getattr(os, "krof"[::-1])() == 0:
            time.sleep(100)
        made += 1
except OSError:
    return made
"""
    trial = graded(lab, body, processes=2)
    if trial.report.verdict == "grader_fault":
        pytest.skip(trial.report.message)
    assert b'"value":2' in trial.said


def test_a_bound_on_one_exercise_leaves_the_next_alone(lab: Laboratory) -> None:
    trial = graded(lab, "while True: pass", call_seconds=0.5, exercise_seconds=1.0)
    assert trial.verdicts("softmax") == {"timeout"}
    assert trial.verdicts("ascii_heatmap") == {"pass"}


@pytest.fixture
def busy() -> Iterator[None]:
    """Run three processes on each core that never sleep."""
    count = 3 * len(os.sched_getaffinity(0))
    hog = [sys.executable, "-c", "while True: pass"]
    # one session each: the kernel shares the CPU between sessions
    others = [subprocess.Popen(hog, start_new_session=True) for _ in range(count)]
    yield
    for other in others:
        other.kill()
        other.wait()


@pytest.mark.thorough
@pytest.mark.usefixtures("busy")
def test_a_busy_machine_is_not_the_submissions_fault(lab: Laboratory) -> None:
    """Grade work that is close to its time limit; the clock must exclude the waiting time."""
    body = """
import time
begin = time.process_time()
while begin < 2.5 and time.process_time() < begin + 0.7: pass  # the first four calls
e = torch.exp(x - x.amax(dim, keepdim=True))
return e / e.sum(dim, keepdim=True)
"""
    trial = graded(lab, body, call_seconds=1.0, exercise_seconds=10.0)
    assert trial.verdicts("softmax") == {"pass"}


@pytest.mark.usefixtures("busy")
def test_whoever_sleeps_does_not_wait_for_a_processor(lab: Laboratory) -> None:
    trial = graded(lab, "import time\ntime.sleep(60)", call_seconds=0.5)
    assert trial.verdicts("softmax") == {"timeout"}
    assert trial.seconds < 12  # as on a machine that is four times slower


@pytest.mark.thorough
def test_it_ends_within_two_seconds_of_its_bound(lab: Laboratory) -> None:
    """Check the elapsed time: at most twice the limit of a call, plus the machine's overhead."""
    trial = graded(lab, "while True: pass", call_seconds=1.0)
    assert trial.seconds < 2 * (1.0 + 2.0)
