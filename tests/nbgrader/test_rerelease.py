"""Test a week that is fixed after students fetched it, through nbgrader's own fetch and submit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from nbgrader.exchange.default import (
    ExchangeFetchAssignment,
    ExchangeFetchFeedback,
    ExchangeSubmit,
)

from autograder.batch.grade import grade_batch
from autograder.model.course import Course, Week
from autograder.model.errors import NbgraderError
from autograder.model.report.schema import Report
from autograder.nbgrader.autograde.recorder import record
from autograder.nbgrader.collect.collector import collect
from autograder.nbgrader.collect.history import read_student
from autograder.nbgrader.demo import student_step
from autograder.nbgrader.publish_feedback import return_feedback
from autograder.nbgrader.release.archive import CHANGES, course_for, grade_by_release
from autograder.nbgrader.release.publish import release
from autograder.nbgrader.status import status
from autograder.nbgrader.workspace import Workspace
from tests.nbgrader.tiny_course import SOLUTION, WEEK, graded, report

SECOND = f"{WEEK}-2"


def mend(course: Course) -> None:
    """Fix a sentence of the README."""
    (course.exercise_folder(course.weeks[0]) / "README.md").write_text("# Week 1\nDouble it.\n")


@pytest.fixture
def beside(week: Week) -> Week:
    """Return the week under the name for a second fetch."""
    return msgspec.structs.replace(week, name=SECOND)


@pytest.fixture
def mended(course: Course, week: Week, released: Workspace, tmp_path: Path) -> Path:
    """Fetch the week as ada, then fix and release it again; return her folder."""
    home = tmp_path / "ada"
    home.mkdir()
    student_step(ExchangeFetchAssignment, course, week, "ada", home)
    (home / WEEK / "doubling.py").write_text("# begun\n")
    mend(course)
    release(course, week, again=True)
    return home


def test_nbgrader_gives_nobody_a_second_copy(course: Course, week: Week, mended: Path) -> None:
    with pytest.raises(Exception, match="already have a copy"):
        student_step(ExchangeFetchAssignment, course, week, "ada", mended)


def test_the_mended_week_is_fetched_beside_the_first(
    course: Course, beside: Week, mended: Path
) -> None:
    student_step(ExchangeFetchAssignment, course, beside, "ada", mended)
    assert (mended / SECOND / "README.md").read_text() == "# Week 1\nDouble it.\n"
    assert (mended / WEEK / "doubling.py").read_text() == "# begun\n"


def test_students_are_told_what_changed_and_how_to_go_on(
    course: Course, beside: Week, mended: Path
) -> None:
    student_step(ExchangeFetchAssignment, course, beside, "ada", mended)
    told = (mended / SECOND / CHANGES).read_text()
    assert "Copy your `doubling.py` over the new one: the original has not changed." in told
    assert "## README.md\n\n    @@ -1 +1,2 @@\n     # Week 1\n    +Double it." in told
    assert told.count("\n## ") == 1


def test_what_is_handed_in_beside_belongs_to_the_week(
    course: Course, week: Week, beside: Week, mended: Path
) -> None:
    student_step(ExchangeFetchAssignment, course, beside, "ada", mended)
    (mended / SECOND / "doubling.py").write_text(SOLUTION)
    student_step(ExchangeSubmit, course, beside, "ada", mended)
    (found,) = status(course)
    assert found.waiting == ["ada"]
    assert collect(course, week, check_owner=False).fresh == ["ada"]
    assert read_student(course, week, "ada").files == {"doubling.py": SOLUTION.encode()}


def test_what_was_handed_in_last_counts_from_whichever_folder(
    course: Course, week: Week, beside: Week, mended: Path
) -> None:
    student_step(ExchangeFetchAssignment, course, beside, "ada", mended)
    student_step(ExchangeSubmit, course, beside, "ada", mended)
    (mended / WEEK / "doubling.py").write_text("# begun, and gone on with\n")
    student_step(ExchangeSubmit, course, week, "ada", mended)
    collect(course, week, check_owner=False)
    assert read_student(course, week, "ada").files == {
        "doubling.py": b"# begun, and gone on with\n"
    }


@pytest.mark.filterwarnings(
    "ignore:unclosed file.*timestamp.txt:ResourceWarning",  # by nbgrader, releasing feedback
    "ignore:.*timestamp.txt:pytest.PytestUnraisableExceptionWarning",
)
def test_feedback_is_fetched_where_it_was_handed_in(
    course: Course, week: Week, beside: Week, mended: Path
) -> None:
    student_step(ExchangeFetchAssignment, course, beside, "ada", mended)
    student_step(ExchangeSubmit, course, beside, "ada", mended)
    collect(course, week, check_owner=False)
    record(course, week, report(graded("ada", 2, 1)))
    return_feedback(course, week)
    student_step(ExchangeFetchFeedback, course, beside, "ada", mended)
    assert list((mended / SECOND / "feedback").rglob(f"{WEEK}.html"))


def test_a_third_release_has_a_name_of_its_own(course: Course, week: Week, mended: Path) -> None:
    (course.exercise_folder(week) / "hints.md").write_text("## double\n1. Add.\n")
    assert release(course, week, again=True).second_name == f"{WEEK}-3"


def test_without_a_change_there_is_nothing_to_release_again(
    course: Course, week: Week, released: Workspace
) -> None:
    with pytest.raises(NbgraderError, match=r"no file that students get has changed"):
        release(course, week, again=True)


def test_before_the_first_release_there_is_no_again(course: Course, week: Week) -> None:
    with pytest.raises(NbgraderError, match="has not been released yet"):
        release(course, week, again=True)


def ask_otherwise(course: Course) -> None:
    """Change the parameter of `double`, so that earlier submissions are for a different one."""
    for place in ("solutions", "exercises"):
        path = course.root / place / WEEK / "doubling.py"
        path.write_text(path.read_text().replace("def double(x: float)", "def double(x, more)"))
    grader = course.graders(course.weeks[0]) / "test_double.py"
    grader.write_text(grader.read_text().replace("agree.double(hidden", "agree.double(*hidden"))


NEW = SOLUTION.replace("def double(x: float)", "def double(x, more)")


@pytest.fixture
def both(
    course: Course, week: Week, hand_in: Callable[..., Path], notebook: str
) -> Callable[[], tuple[Report, list[str]]]:
    """Submit the old `double` as ada and the new one as bob: both are correct for their version."""
    release(course, week)
    hand_in("ada", {"doubling.py": SOLUTION, f"{WEEK}.ipynb": notebook})
    ask_otherwise(course)
    release(course, week, again=True)
    hand_in("bob", {"doubling.py": NEW, "week.json": json.dumps({"release": 2})})
    collect(course, week, check_owner=False)

    def graded_both() -> tuple[Report, list[str]]:
        found, _, said = grade_by_release(
            course,
            week,
            lambda of, own, some: grade_batch(of, own, some, devices=("cpu",), jobs=1),
        )
        return found, said

    return graded_both


def test_what_was_made_from_another_stub_is_graded_by_its_own_tests(
    both: Callable[[], tuple[Report, list[str]]],
) -> None:
    found, said = both()
    assert [(s.name, s.score) for s in found.submissions] == [("ada", 3), ("bob", 3)]
    assert said == ["made from release 1 and graded by its tests: ada"]


def test_where_the_stub_is_the_same_todays_tests_are_right_for_all(
    course: Course, week: Week, hand_in: Callable[..., Path], notebook: str
) -> None:
    release(course, week)
    hand_in("ada", {"doubling.py": SOLUTION, f"{WEEK}.ipynb": notebook})
    mend(course)
    release(course, week, again=True)
    collect(course, week, check_owner=False)
    assert course_for(course, week, "ada") is course
