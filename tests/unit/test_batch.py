"""Test that a class is read from disk one submission at a time."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from autograder.batch.grade import grade_batch
from autograder.batch.intake import Submission, Unread
from autograder.model.course import Course, load
from autograder.model.errors import KitError

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


@pytest.fixture
def course(tmp_path: Path) -> Course:
    ignored = shutil.ignore_patterns("__pycache__", ".autograder")
    shutil.copytree(GOLDEN / "course", tmp_path / "course", ignore=ignored)
    return load(tmp_path / "course")


def solution(course: Course, remark: str) -> dict[str, bytes]:
    return {"tiny.py": course.solution(course.weeks[0]).read_bytes() + f"# {remark}\n".encode()}


def grade(course: Course, submissions: Unread):
    return grade_batch(course, course.weeks[0], submissions, devices=("cpu",), jobs=1)


def test_a_submission_is_read_when_its_turn_comes(course: Course) -> None:
    read: list[str] = []

    def reader(name: str):
        def now() -> Submission:
            read.append(name)
            return Submission(name, solution(course, name))

        return now

    submissions = Unread([reader("ada"), reader("grace")])
    report = grade(course, submissions)
    assert [(s.name, s.score) for s in report.submissions] == [("ada", 5.0), ("grace", 5.0)]
    # once to look for its result, and once to grade it
    assert read == ["ada", "grace", "ada", "grace"]


def test_one_that_changes_meanwhile_is_not_taken_for_what_it_was(course: Course) -> None:
    texts = ["before", "after"]
    changing = Unread([lambda: Submission("ada", solution(course, texts.pop(0)))])
    with pytest.raises(KitError, match="ada changed during grading"):
        grade(course, changing)
    (report,) = grade(
        course, Unread([lambda: Submission("ada", solution(course, "after"))])
    ).submissions
    assert report.score == 5.0
