"""Test that a batch is recorded and reported as one by one, and each submission atomically."""

from __future__ import annotations

import multiprocessing
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nbgrader.converters import Autograde

from autograder import files
from autograder.model.course import Course, Week
from autograder.nbgrader.autograde.preprocessor import prepared_report
from autograder.nbgrader.autograde.recorder import record
from autograder.nbgrader.collect.collector import collect
from autograder.nbgrader.gradebook.report_store import recorded_folder, submission_of
from autograder.nbgrader.publish_feedback import return_feedback
from autograder.nbgrader.workspace import Workspace, open_api
from tests.nbgrader.tiny_course import SOLUTION, graded, report

CLASS = report(graded("ada", 2, 1), graded("bob", 1, 0))


@pytest.fixture
def klass(
    course: Course, week: Week, hand_in: Callable[..., Path], notebook: str, workspace: Workspace
) -> Course:
    own = notebook.replace("That was it.", r"Schön, dass \"x\" \\ und ½\u0007 steht.")
    for student in ("ada", "bob"):
        hand_in(student, {"doubling.py": SOLUTION, f"{week.name}.ipynb": own})
    collect(course, week, check_owner=False)
    return course


def auto_scores(course: Course) -> dict[str, dict[str, float]]:
    """Read automatic scores by student and cell from the gradebook's file."""
    database = sqlite3.connect(Workspace(course).root / "gradebook.db")
    rows = database.execute(
        "SELECT submitted_assignment.student_id, base_cell.name, grade.auto_score FROM grade "
        "JOIN base_cell ON base_cell.id = grade.cell_id "
        "JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id "
        "JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id"
    ).fetchall()
    database.close()
    found: dict[str, dict[str, float]] = {}
    for student, cell, score in rows:
        found.setdefault(student, {})[cell] = score
    return found


def _written(course: Course, week: Week, student: str) -> tuple[bytes, Any]:
    path = Workspace(course).autograded(student, week) / f"{week.name}.ipynb"
    return path.read_bytes(), auto_scores(course)[student]


def test_recorded_in_a_row_is_what_nbgraders_own_command_records(klass: Course, week: Week) -> None:
    record(klass, week, CLASS)
    in_a_row = [_written(klass, week, s) for s in ("ada", "bob")]
    for submission in CLASS.submissions:
        with prepared_report(week, submission, submission_of(klass, week, submission.name)):
            assert open_api(klass).autograde(week.name, submission.name)["success"]
    assert [_written(klass, week, s) for s in ("ada", "bob")] == in_a_row


@pytest.mark.filterwarnings(
    "ignore:.*timestamp.txt:pytest.PytestUnraisableExceptionWarning"
)  # nbgrader's open function
def test_a_page_made_in_a_row_is_what_nbgraders_own_command_makes(
    klass: Course,
    week: Week,
    hand_in: Callable[..., Path],
    notebook: str,
) -> None:
    students = ["ada", "bob", "cid"]
    hand_in("cid", {"doubling.py": SOLUTION, f"{week.name}.ipynb": notebook})
    collect(klass, week, check_owner=False)
    record(klass, week, report(graded("ada", 2, 1), graded("bob", 1, 0), graded("cid", 2, 0)))
    assert return_feedback(klass, week).students == students
    pages = [Workspace(klass).feedback_page(s, week) for s in students]
    in_a_row = [page.read_bytes() for page in pages]
    api = open_api(klass)
    api.config.OnlyMarked.unmarked = True
    for student in students:
        assert api.generate_feedback(week.name, student)["success"]
    assert [page.read_bytes() for page in pages] == in_a_row


def test_of_a_submission_that_fails_at_its_end_nothing_is_written_and_the_next_is(
    klass: Course, week: Week, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = Autograde.write_single_notebook

    def fail(self: Any, output: str, resources: Any) -> None:
        if resources["nbgrader"]["student"] == "ada" and not self._sanitizing:
            raise OSError("the disk is full")
        last(self, output, resources)

    monkeypatch.setattr(Autograde, "write_single_notebook", fail)
    done = record(klass, week, CLASS)
    assert (list(done.left_out), done.recorded) == (["ada"], ["bob"])
    assert list(auto_scores(klass)) == ["bob"]
    answers = sorted(p.name for p in recorded_folder(klass, week).glob("*.answers"))
    assert answers == ["bob.answers"]
    monkeypatch.undo()
    assert sorted(record(klass, week, CLASS).recorded) == ["ada", "bob"]


def test_two_grades_at_once_record_everybody(
    course: Course, week: Week, hand_in: Callable[..., Path], notebook: str
) -> None:
    names = [f"s{number:02}" for number in range(10)]
    for student in names:
        hand_in(student, {"doubling.py": SOLUTION, f"{week.name}.ipynb": notebook})
    collect(course, week, check_owner=False)
    klass = report(*(graded(student, 2, 1) for student in names))
    forking = multiprocessing.get_context("fork")
    told = forking.SimpleQueue()
    ready = forking.Barrier(2)

    def grade() -> None:
        ready.wait()
        told.put(record(course, week, klass).left_out)

    both = [forking.Process(target=grade) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert [told.get(), told.get()] == [{}, {}]
    assert sorted(auto_scores(course)) == names


def test_what_was_judged_is_kept_after_the_scores_stand(
    klass: Course, week: Week, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Earlier, a process killed in between treated a new answer as already marked.
    seen, replace = [], files.replace_file

    def looking(path: Path, data: bytes, mode: int = 0o600, *, lasting: bool = True) -> None:
        seen.append(auto_scores(klass).get("ada", {}).get("double"))
        replace(path, data, mode, lasting=lasting)

    monkeypatch.setattr(files, "replace_file", looking)
    record(klass, week, report(graded("ada", 2, 1)))
    assert seen[-1] == 2.0


def test_the_grades_of_one_submission_are_found_without_reading_all(
    klass: Course, week: Week, workspace: Workspace
) -> None:
    record(klass, week, CLASS)
    database = sqlite3.connect(workspace.root / "gradebook.db")
    for table, column in (("grade", "notebook_id"), ("submitted_notebook", "assignment_id")):
        asked = f"EXPLAIN QUERY PLAN SELECT * FROM {table} WHERE {column} = 'x'"
        (plan,) = [row[3] for row in database.execute(asked)]
        assert "USING INDEX" in plan
