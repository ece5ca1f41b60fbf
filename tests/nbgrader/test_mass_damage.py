"""Test that an instructor's mistake does not change the scores of a whole class."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.cli.instructor import grading, overview
from autograder.model.course import Course, Week, load
from autograder.model.errors import KitError
from autograder.nbgrader.collect.collector import collect
from autograder.nbgrader.collect.groups import unknown_students
from autograder.nbgrader.release.publish import release
from tests.nbgrader.tiny_course import SOLUTION, WEEK
from tests.standings import standings

OTHER = {"dubbing.py": "x = 1\n"}
RIGHT = {"doubling.py": SOLUTION}


@pytest.fixture
def grade(
    course: Course, week: Week, hand_in: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., bool]:
    """Submit, collect and grade; return True if all submissions were graded and recorded."""
    monkeypatch.chdir(course.root)

    def grade(*handed_in: dict[str, str], refused: bool = False) -> bool:
        for number, files in enumerate(handed_in):
            hand_in(f"student{number}", files)
        collect(course, week, check_owner=False)
        return grading.grade(week.name, jobs=1, device="cpu", refused=refused)

    return grade


@pytest.mark.parametrize("handed_in", [(OTHER, OTHER), (OTHER, OTHER, RIGHT), (OTHER,)])
def test_where_most_are_refused_nothing_is_recorded(
    grade: Callable[..., bool], course: Course, week: Week, handed_in: tuple[dict[str, str], ...]
) -> None:
    with pytest.raises(KitError, match=r"were refused, each with 'doubling.py is missing'"):
        grade(*handed_in)
    assert standings(course, week) == []


def test_what_is_refused_rightly_is_recorded_on_request(
    grade: Callable[..., bool], course: Course, week: Week
) -> None:
    assert not grade(OTHER, OTHER, refused=True)
    assert [s.student for s in standings(course, week)] == ["student0", "student1"]


def test_one_refused_among_others_is_recorded_and_to_be_looked_at(
    grade: Callable[..., bool], course: Course, week: Week
) -> None:
    assert not grade(OTHER, RIGHT, RIGHT)
    assert [s.score for s in standings(course, week)] == [0, 3, 3]


def test_all_graded_and_recorded_is_fine(grade: Callable[..., bool]) -> None:
    assert grade(RIGHT, RIGHT)


def test_a_week_that_was_not_released_is_not_graded_in_vain(
    course: Course, week: Week, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(course.root)
    folder = course.root / "nbgrader" / "submitted" / "ada" / WEEK
    folder.mkdir(parents=True)
    (folder / "doubling.py").write_text(SOLUTION)
    with pytest.raises(KitError, match="was not released from here"):
        grading.grade(week.name, jobs=1, device="cpu")
    assert not (course.root / ".autograder" / "results").exists()


LATE = """\
late:
  percent: 10
  extensions:
    - {student: stuent0, week: week01_tiny, until: 2020-01-20T23:59:00}
"""
STRANGER = (
    "LOOK  course.yaml: late.extensions[0].student: there is no student 'stuent0': did you mean "
    "'student0'?"
)


def test_an_extension_for_nobody_is_said_wherever_it_would_count(
    grade: Callable[..., bool], course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    registry = course.root / "course.yaml"
    registry.write_text(registry.read_text() + LATE)
    course.__init__(course.root, load(course.root).registry)  # type: ignore[misc]
    assert not grade(RIGHT)
    assert STRANGER in capsys.readouterr().out
    assert not overview.status()
    assert f"{WEEK}: {STRANGER}" in capsys.readouterr().out


def test_before_anybody_is_known_an_extension_is_for_somebody(course: Course, week: Week) -> None:
    registry = course.root / "course.yaml"
    registry.write_text(registry.read_text() + LATE)
    assert unknown_students(load(course.root), week) == []


def test_a_due_date_in_the_past_is_said_at_the_release(course: Course, week: Week) -> None:
    (note,) = release(course, week).notes
    assert note.startswith("course.yaml: weeks[0].due: Monday 13 January 2020, 23:59 has passed")
