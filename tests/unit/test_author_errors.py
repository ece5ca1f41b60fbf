"""Test that the solution decides who is at fault if a hidden test raises an error."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.grading.engine import Engine
from autograder.model.course import Suspects, load
from autograder.model.report.schema import SubmissionReport

REGISTRY = """
course: tiny
title: Tiny
timezone: Europe/Zurich
weeks:
  - {name: week01_scale, title: Scale, module: m.py, release: 2020-01-06T09:00:00,
     due: 2020-01-13T23:59:00, exercises: [{name: scale, points: 1}]}
"""
GRADER = """
from autograder.authors import expect

def test_ratio(submission):
    expect(10.0 / submission.scale(5.0) == 1.0, "It is off.")

def test_deep(submission):
    def down(n):
        return 0 if n <= 0 else down(n - 1)
    down(submission.scale(5.0))

def test_out_of_reach(submission):
    if submission.scale(5.0) == 7.0:
        raise OSError(28, "No space left on device")
"""
BUG = """
def test_with_a_bug(submission):
    raise LookupError(submission.scale(5.0))
"""


def engine_of(root: Path, grader: str) -> Engine:
    solution = "def scale(x):\n    return 2 * x\n"
    files = {"course.yaml": REGISTRY, "solutions/week01_scale/m.py": solution}
    files["exercises/week01_scale/m.py"] = "def scale(x):\n    raise NotImplementedError\n"
    files["autograder/graders/week01_scale/test_scale.py"] = grader
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        Path(root / name).write_text(text, encoding="utf-8")
    course = load(root)
    return Engine(course, course.weeks[0], ("cpu",), b"x" * 32, None)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with contextlib.closing(engine_of(tmp_path_factory.mktemp("course"), GRADER)) as made:
        yield made


def graded(engine: Engine, body: str) -> SubmissionReport:
    return engine.grade("ada", {"m.py": f"def scale(x):\n    return {body}\n".encode()})


def verdicts(report: SubmissionReport) -> dict[str, str]:
    tests = report.exercises[0].tests
    return {t.name.split("::")[1]: str(t.verdict) for t in tests}


@pytest.mark.parametrize("body", ["0.0", "'text'", "None", "(1, 2)", "float('nan')"])
def test_an_error_that_a_students_value_leads_to_is_wrong(engine: Engine, body: str) -> None:
    report = graded(engine, body)
    assert report.verdict == "graded"
    assert verdicts(report)["test_ratio"] == "wrong"


def test_a_recursion_that_a_students_value_leads_to_is_wrong(engine: Engine) -> None:
    assert verdicts(graded(engine, "10**5"))["test_deep"] == "wrong"


def test_its_message_is_for_the_student(engine: Engine) -> None:
    (failed,) = [t for t in graded(engine, "0.0").exercises[0].tests if "ratio" in t.name]
    assert "docstring" in failed.message
    assert "ZeroDivision" not in failed.message


def test_a_fault_of_the_machine_is_never_the_students(engine: Engine) -> None:
    assert graded(engine, "7.0").verdict == "grader_fault"


def test_a_fault_that_the_solution_meets_too_is_ours(tmp_path: Path) -> None:
    with contextlib.closing(engine_of(tmp_path, GRADER + BUG)) as buggy:
        report = graded(buggy, "3 * x")
    assert report.verdict == "grader_fault"
    assert "LookupError" in report.message


def test_right_work_is_graded_beside_all_that(engine: Engine) -> None:
    assert graded(engine, "x + x").score == 1.0


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ("autograder.grading.naming.diagnose", "scale, name"),
        ("autograder.grading.localization.localizer.LineFinder.find", "scale, line"),
    ],
)
def test_a_fault_beyond_the_verdicts_leaves_them_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, told: str
) -> None:
    def fails(*_: object) -> None:
        raise ValueError("two answers of different sizes")

    with contextlib.closing(engine_of(tmp_path, GRADER)) as made:
        made.locate_mistakes(Suspects())
        before = graded(made, "0.0")
        monkeypatch.setattr(step, fails)
        made.locate_mistakes(Suspects())  # clear the causes found before
        after = graded(made, "0.0")
    assert after.verdict == "graded"
    assert (after.score, verdicts(after)) == (before.score, verdicts(before))
    assert before.unexplained == ()
    assert after.unexplained == (f"{told}: ValueError: two answers of different sizes",)
