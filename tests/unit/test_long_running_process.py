"""Test that one process grades many weeks and reloads fixed graders, as Formgrader does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

REGISTRY = """
course: tiny
title: Two weeks
timezone: Europe/Zurich
weeks:
  - {name: week01_twice, title: Twice, module: m.py, exercises: [{name: scale, points: 1}],
     release: 2020-01-06T09:00:00, due: 2020-01-13T23:59:00}
  - {name: week02_thrice, title: Thrice, module: m.py, exercises: [{name: scale, points: 1}],
     release: 2020-01-13T09:00:00, due: 2020-01-20T23:59:00}
"""
GRADER = """
from autograder.authors import expect

def test_scale(submission):
    expect(submission.scale(5.0) == {factor} * 5.0, 'It is off.')
"""
SCRIPT = """
import json
from pathlib import Path
from autograder.batch.grade import grade_batch
from autograder.model.course import load
from autograder.batch.intake import Submission

def score(week, factor):
    files = {"m.py": f"def scale(x):\\n    return {factor} * x\\n".encode()}
    report = grade_batch(load(Path()), week, [Submission("ada", files)],
                         devices=("cpu",), jobs=1, sandbox="none")
    (one,) = report.submissions
    return one.score if one.verdict == "graded" else one.message

if __name__ == "__main__":
    first, second = load(Path()).weeks
    scores = [score(first, 2), score(second, 3), score(first, 7), score(second, 8)]
    grader = Path("autograder/graders/week01_twice/test_scale.py")
    grader.write_text(grader.read_text().replace("2 *", "7 *"))
    print(json.dumps([*scores, score(first, 7)]))
"""


@pytest.fixture
def course(tmp_path: Path) -> Path:
    files = {"course.yaml": REGISTRY, "script.py": SCRIPT}
    for week, factor in (("week01_twice", 2), ("week02_thrice", 3)):
        files[f"autograder/graders/{week}/test_scale.py"] = GRADER.format(factor=factor)
        files[f"solutions/{week}/m.py"] = f"def scale(x):\n    return {factor} * x\n"
        files[f"exercises/{week}/m.py"] = "def scale(x):\n    raise NotImplementedError\n"
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_graders_of_one_name_in_two_weeks_and_a_mended_one_are_told_apart(course: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "script.py"], cwd=course, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [1, 1, 0, 0, 1]


GRADIENTS = """
def test_gradients(agree, draw, device):
    agree.gradients.scale(draw.normal(2, 3))
"""
OWN_FORMULA = """
import torch

class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return {factor} * x

    @staticmethod
    def backward(ctx, gradient):
        return {factor} * gradient

def scale(x):
    return Scale.apply(x)
"""
CPU_THEN_FAKE = """
import json
from pathlib import Path
from autograder.batch.grade import grade_batch
from autograder.model.course import load
from autograder.batch.intake import Submission

files = {"m.py": Path("solutions/week01_twice/m.py").read_bytes()}
for devices in (("cpu",), ("cpu", "fake-gpu")):
    (report,) = grade_batch(load(Path()), load(Path()).weeks[0], [Submission("ada", files)],
                            devices=devices, jobs=1, sandbox="none").submissions
print(json.dumps([t.verdict for e in report.exercises for t in e.tests]))
"""


def test_the_claimed_device_has_gradients_after_a_batch_on_the_cpu_alone(course: Path) -> None:
    """Grade on the CPU first: autograd counts devices at the first backward pass of a process."""
    (course / "autograder/graders/week01_twice/test_scale.py").write_text(GRADIENTS)
    (course / "solutions/week01_twice/m.py").write_text(OWN_FORMULA.format(factor=2))
    done = subprocess.run(
        [sys.executable, "-P", "-c", CPU_THEN_FAKE],
        cwd=course,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["pass", "pass"]
