"""Gradescope's zip in a container like Gradescope's: built by its setup.sh, run by its program."""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any

import pytest

from autograder.model.course import load
from tests.container.rootfs import PROJECT, Container

WEEK = load(PROJECT).weeks[0]
SOLUTION = (PROJECT / "solutions" / WEEK.name / WEEK.module).read_text("utf-8")
STUB = (PROJECT / "exercises" / WEEK.name / WEEK.module).read_text("utf-8")
LOOKS = """

import os

def _look():
    seen = []
    for path in ("/autograder", "/autograder/source/course.yaml", "/autograder/results",
                 "/etc/passwd", "/proc/1/cmdline", "/proc/self/environ", "/root", "/home"):
        try:
            seen.append(path + str(os.listdir(path) if os.path.isdir(path) else open(path).read(9)))
        except OSError:
            pass
    return seen

def softmax(x, dim=-1):
    raise ValueError(f"uid {os.getuid() != 0} caps {sorted(os.environ)[:9]} saw {_look()}")
"""


def results(container: Container) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((container.base / "results" / "results.json").read_text())
    return found


@pytest.fixture(scope="module")
def graded(container: Container) -> subprocess.CompletedProcess[str]:
    container.hand_in({WEEK.module: SOLUTION})
    return container.grade()


def test_a_right_submission_gets_all_points_without_namespaces_or_landlock(
    container: Container, graded: subprocess.CompletedProcess[str]
) -> None:
    assert graded.returncode == 0, graded.stdout
    assert "graded in the sandbox chroot: 13 of 13" in graded.stdout
    found = results(container)
    assert found["score"] == sum(e.points for e in WEEK.exercises)
    assert [t["name"] for t in found["tests"] if "max_score" in t] == [
        e.name for e in WEEK.exercises
    ]


def test_what_is_secret_there_is_roots_alone(
    container: Container, graded: subprocess.CompletedProcess[str]
) -> None:
    for name in ("source", "source/solutions", "source/autograder/graders", "results"):
        assert not (container.base / name).stat().st_mode & 0o077, name
    assert not (container.base / "submission_metadata.json").stat().st_mode & 0o077


def test_what_is_not_written_yet_gets_nothing_and_no_blame(container: Container) -> None:
    container.hand_in({WEEK.module: STUB})
    assert container.grade().returncode == 0
    found = results(container)
    assert found["score"] == 0
    assert "Not written yet" in found["tests"][-1]["output"]


def test_a_submission_sees_nothing_of_it(container: Container) -> None:
    container.hand_in({WEEK.module: SOLUTION + LOOKS})
    assert container.grade().returncode == 0
    report = container.base / "source" / ".autograder" / "results"
    said = "".join(p.read_text() for p in report.rglob("*") if p.is_file())
    assert re.search(r"ValueError|Stopped|crashed", said)
    for secret in ("course.yaml", "title:", "root:", "run_autograder"):
        assert secret not in json.dumps(results(container)), secret


def test_with_landlock_allowed_that_is_taken(container: Container) -> None:
    container.hand_in({WEEK.module: SOLUTION})
    assert "graded in the sandbox landlock: 13 of 13" in container.grade("--landlock").stdout


@pytest.mark.parametrize("lost", ["sys_chroot", "setuid", "kill"])
def test_without_what_it_needs_it_refuses_and_says_why(container: Container, lost: str) -> None:
    container.hand_in({WEEK.module: SOLUTION})
    done = container.grade("--without", lost)
    assert done.returncode == 2
    assert f"CAP_{lost.upper()}" in done.stdout
    assert not (container.base / "results" / "results.json").exists(), (
        "no zero for a fault of the grader"
    )


def test_without_the_link_it_refuses_and_says_how_to_make_it(container: Container) -> None:
    container.hand_in({WEEK.module: SOLUTION})
    link = container.root / "usr" / "usr"
    link.rename(link.with_name("kept"))
    try:
        done = container.grade()
    finally:
        link.with_name("kept").rename(link)
    assert done.returncode == 2
    assert "ln -s . /usr/usr" in done.stdout
