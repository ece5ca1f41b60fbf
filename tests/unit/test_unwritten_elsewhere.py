"""Test that an unwritten exercise that stops a test does not hide the line of a mistake."""

from __future__ import annotations

from types import SimpleNamespace

from autograder.grading.localization.candidate_runner import WrongExercise
from autograder.grading.localization.localizer import without_unwritten
from autograder.model.report.schema import Verdict

SOURCE = b"""def helper(x):
    raise NotImplementedError


def f(x):
    return x
"""


def ran(name, verdict, line):
    return SimpleNamespace(report=SimpleNamespace(name=name, verdict=verdict, line=line))


def left(*runs):
    files = {"m.py": SOURCE}
    wrong = WrongExercise(files, "m.py", "f", frozenset({"helper", "f"}), runs)
    return [r.report.name for r in without_unwritten(wrong).ran]


def test_it_is_set_apart():
    assert left(ran("a", Verdict.WRONG, 0), ran("b", Verdict.UNWRITTEN, 2)) == ["a"]


def test_what_is_unwritten_in_the_exercise_itself_is_not():
    assert left(ran("a", Verdict.WRONG, 0), ran("b", Verdict.UNWRITTEN, 6)) == ["a", "b"]
