"""Test that docs/serve.md states how many bits a result can reveal at most."""

from __future__ import annotations

import math
import re

import pytest

from autograder.grading.disclosure.leak_budget import SUBMISSION_BITS
from autograder.grading.running.pytest_plugin import GraderPlugin
from autograder.grading.running.test_runner import collect_tests
from autograder.grading.targets.in_process import InProcess
from autograder.model.course import load
from tests.courses import PROJECT

DEVICES = ("cpu", "fake-gpu")
OUTCOME, TIME = 2, 9  # bits for the outcome of a test, and for the time of a result
RESULTS_A_WEEK = 70
BOUNDS = re.compile(
    r"between (\d+) and (\d+) bits .* it is (\d+)\..* about ([\d,]+) bits", re.DOTALL
)


@pytest.mark.thorough
def test_the_documented_bound_covers_every_test_of_every_week() -> None:
    course, bits = load(PROJECT), []
    for week in course.weeks:
        solution = InProcess(course.solution(week))
        plugin = GraderPlugin(week, DEVICES, b"", solution, solution, "")
        collect_tests(course.graders(week), plugin)
        bits.append(SUBMISSION_BITS + TIME + OUTCOME * len(plugin.items))
    text = (PROJECT / "docs" / "serve.md").read_text(encoding="utf-8")
    found = BOUNDS.search(text)
    assert found is not None
    least, most, names, a_week = (int(n.replace(",", "")) for n in found.groups())
    assert (least, most) == (10 * (min(bits) // 10), 10 * math.ceil(max(bits) / 10))
    assert names == SUBMISSION_BITS + TIME
    assert a_week == round(RESULTS_A_WEEK * max(bits), -3)
