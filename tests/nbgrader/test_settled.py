"""A second `grade` of a class runs nothing of nbgrader, and misses nothing that changed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from nbgrader.api import Gradebook, MissingEntry

from autograder.model.course.loader import Course, Week
from autograder.model.report.schema import Report
from autograder.nbgrader.autograde.shared_gradebook import shared_gradebook
from autograder.nbgrader.collect.collector import collect
from autograder.nbgrader.gradebook.report_store import submission_of
from autograder.nbgrader.gradebook.transfer import record, standings
from autograder.nbgrader.gradebook.unchanged_scores import GradebookScores
from autograder.nbgrader.workspace import Workspace, open_gradebook
from tests.nbgrader.tiny_course import SOLUTION, STUB, WEEK, graded, report

FIRST = report(graded("ada", 2, 1), graded("bob", 1, 0))
Change = Callable[[Course, Week], object]


@pytest.fixture
def klass(course: Course, week: Week, hand_in: Callable[..., Path], notebook: str) -> Course:
    for name in ("ada", "bob"):
        hand_in(name, {"doubling.py": SOLUTION, f"{WEEK}.ipynb": notebook})
    collect(course, week, check_owner=False)
    record(course, week, FIRST)
    return course


def compared(course: Course, week: Week, of: Report) -> dict[str, str]:
    scores = GradebookScores(course, week)
    return {
        s.name: scores.compare(s, submission_of(course, week, s.name)).name for s in of.submissions
    }


def test_who_stands_there_already_is_not_recorded_again(klass: Course, week: Week) -> None:
    assert compared(klass, week, FIRST) == {"ada": "UNCHANGED", "bob": "UNCHANGED"}
    assert record(klass, week, FIRST).recorded == ["ada", "bob"]


def test_then_nbgrader_is_not_even_imported(klass: Course) -> None:
    code = (
        "import sys\n"
        "from tiny_course import graded, report\n"
        "from autograder.model.course.loader import load\n"
        "from autograder.nbgrader.gradebook.transfer import record\n"
        "course = load()\n"
        "record(course, course.weeks[0], report(graded('ada', 2, 1), graded('bob', 1, 0)))\n"
        "print(sorted({'nbgrader', 'nbformat', 'sqlalchemy', 'torch'} & set(sys.modules)))"
    )
    here = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=klass.root,
        env={"PYTHONPATH": ":".join([here, *filter(None, sys.path)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


def another_score(course: Course, week: Week) -> None:
    with open_gradebook(course) as gradebook:
        gradebook.find_grade("double", WEEK, WEEK, "ada").auto_score = 0.5
        gradebook.db.commit()


def another_module(course: Course, week: Week) -> None:
    (Workspace(course).submitted("ada", week) / "doubling.py").write_text(STUB)


def another_answer(course: Course, week: Week) -> None:
    path = Workspace(course).submitted("ada", week) / f"{WEEK}.ipynb"
    path.write_text(path.read_text("utf-8").replace("*Your answer here.*", "Because."), "utf-8")


def no_graded_notebook(course: Course, week: Week) -> None:
    (Workspace(course).autograded("ada", week) / f"{WEEK}.ipynb").unlink()


def no_submission_in_the_gradebook(course: Course, week: Week) -> None:
    with open_gradebook(course) as gradebook:
        gradebook.remove_submission(WEEK, "ada")


@pytest.mark.parametrize(
    "change",
    [
        another_score,
        another_module,
        another_answer,
        no_graded_notebook,
        no_submission_in_the_gradebook,
    ],
)
def test_whatever_changed_is_recorded_again(klass: Course, week: Week, change: Change) -> None:
    change(klass, week)
    assert compared(klass, week, FIRST) == {"ada": "TO_RECORD", "bob": "UNCHANGED"}


def test_another_report_is_recorded(klass: Course, week: Week) -> None:
    second = report(graded("ada", 1, 1), graded("bob", 1, 0))
    assert compared(klass, week, second) == {"ada": "RESCORED", "bob": "UNCHANGED"}
    record(klass, week, second)
    assert [s.score for s in standings(klass, week)] == [2, 1]


def test_a_class_opens_the_gradebook_once_and_each_use_has_a_session_of_its_own(course, released):
    begin = Gradebook.__init__
    with shared_gradebook(course):
        with Gradebook(released.db_url) as one:
            one.add_student("ada")
            one.db.add(one.find_student("ada"))
            one.find_student("ada").first_name = "never committed"
        with Gradebook(released.db_url, course.id) as other:
            assert other.engine is one.engine
            assert other.db is not one.db
            assert other.find_student("ada").first_name is None
        elsewhere = f"sqlite:///{released.root / 'elsewhere.db'}"
        with Gradebook(elsewhere) as apart:
            assert apart.engine is not one.engine
            with pytest.raises(MissingEntry):
                apart.find_student("ada")
    assert Gradebook.__init__ is begin
    with Gradebook(released.db_url) as after:
        assert after.engine is not one.engine
        assert [s.id for s in after.students] == ["ada"]
