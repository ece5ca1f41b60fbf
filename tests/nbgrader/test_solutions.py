"""Test that solutions are released through nbgrader and as files after the last extension."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import msgspec
import pytest
from nbgrader.exchange.default import ExchangeFetchAssignment

from autograder.cli import run
from autograder.model.course import Course, Week, load
from autograder.model.errors import KitError, LeakError, NbgraderError
from autograder.nbgrader.demo import student_step
from autograder.nbgrader.release.solutions import (
    MISTAKES,
    capitalize_sentence,
    last_moment,
    release_solutions,
)
from autograder.nbgrader.workspace import Workspace, open_gradebook
from autograder.student.folder.week import open_folder
from autograder.student.show.solution import compare_with_solution
from tests.nbgrader.tiny_course import GRADER, REGISTRY, SOLUTION, WEEK

OUT = f"{WEEK}-solutions"
LATE = """\
late:
  percent: 10
  slip_days: 2
  extensions:
    - {student: ada, week: week01_tiny, until: 2020-01-20T12:00:00}
"""


@pytest.fixture
def lenient(course: Course, released: Workspace) -> Course:
    """Return the course with slip days and an extension for ada."""
    (course.root / "course.yaml").write_text(REGISTRY + LATE, encoding="utf-8")
    return load(course.root)


def at(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)


def read(folder: Path, name: str) -> str:
    return (folder / name).read_text(encoding="utf-8")


def test_before_the_due_date_they_stay_here(
    course: Course, released: Workspace, week: Week
) -> None:
    with pytest.raises(NbgraderError, match=r"students can submit .* 13 January 2020, 23:59"):
        release_solutions(course, week, now=at("2020-01-13T22:00"))
    assert not released.outbound(week).with_name(OUT).exists()


def test_an_extension_of_the_registry_and_slip_days_keep_them(lenient: Course) -> None:
    week = lenient.weeks[0]
    with pytest.raises(NbgraderError, match=r"ada has an extension .* 22 January 2020, 12:00"):
        release_solutions(lenient, week, now=at("2020-01-22T10:00"))
    assert release_solutions(lenient, week, now=at("2020-01-22T12:00")).folder.name == OUT


def test_an_extension_of_the_gradebook_keeps_them(
    course: Course, released: Workspace, week: Week
) -> None:
    with open_gradebook(course) as gradebook:
        gradebook.add_student("bob")
        gradebook.add_submission(week.name, "bob")
        gradebook.grant_extension(week.name, "bob", days=9)
    assert last_moment(course, week)[1] == "bob"
    with pytest.raises(NbgraderError, match="bob has an extension"):
        release_solutions(course, week, now=at("2020-01-21T12:00"))


def test_a_week_that_was_not_released_has_no_solutions_to_release(
    course: Course, week: Week
) -> None:
    with pytest.raises(NbgraderError, match="has not been released yet"):
        release_solutions(course, week)


def test_students_fetch_the_solved_week_with_nbgrader(
    course: Course, released: Workspace, week: Week, tmp_path: Path
) -> None:
    release_solutions(course, week)
    home = tmp_path / "ada"
    home.mkdir()
    solved = msgspec.structs.replace(week, name=OUT)
    student_step(ExchangeFetchAssignment, course, solved, "ada", home)
    assert "twice_the_number_that_came_in = x + x" in read(home / OUT, "doubling.py")
    assert "SOLUTION" not in read(home / OUT, "doubling.py")
    assert "two of that number, as $x + x = 2x$ says" in read(home / OUT, f"{WEEK}.ipynb")
    assert "3 gives 9. Try 3 by hand." in read(home / OUT, MISTAKES)


def test_nothing_of_it_is_graded(course: Course, released: Workspace, week: Week) -> None:
    folder = release_solutions(course, week).folder
    notebook = json.loads(read(folder, f"{WEEK}.ipynb"))
    assert [c for c in notebook["cells"] if "nbgrader" in c["metadata"]] == []


def test_the_files_hold_no_hidden_test_and_no_code_of_the_bank(
    course: Course, released: Workspace, week: Week
) -> None:
    folder = release_solutions(course, week).folder
    text = "".join(p.read_text("utf-8", "replace") for p in folder.rglob("*") if p.is_file())
    assert "hidden_numbers_that_nobody_may_see" not in text
    assert "squared_because_two_looks_like_a_power" not in text
    assert "sum_of_a_number_taken_twice" not in text


def test_a_hidden_test_in_the_solution_stops_it(
    course: Course, released: Workspace, week: Week
) -> None:
    lines = [line for line in GRADER.split("\n") if "hidden_numbers" in line]
    pasted = "\n".join(lines)
    readme = course.exercise_folder(week) / "README.md"
    readme.write_text(f"# Week 1\n{pasted}\n", encoding="utf-8")
    with pytest.raises(LeakError):
        release_solutions(course, week)
    assert not released.outbound(week).with_name(OUT).exists()


def test_the_week_itself_is_left_as_it_was(course: Course, released: Workspace, week: Week) -> None:
    release_solutions(course, week)
    assert "twice_the_number" not in read(released.outbound(week), "doubling.py")
    assert read(released.source(week), "doubling.py") != SOLUTION


def test_the_command_says_where_they_are(
    course: Course,
    released: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(course.root)
    assert run(["release", "week01", "--solutions"]) == 0
    said = capsys.readouterr().out
    assert f"nbgrader fetch_assignment {OUT} --course tiny" in said
    assert str(released.root / "release" / OUT) in said
    assert "check submissions from now on for copies" in said


def test_the_command_takes_no_early_solutions(
    course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(course.root)
    assert run(["release", "week01", "--solutions", "--early"]) == 2
    assert "--solutions cannot be combined" in capsys.readouterr().err


def test_a_student_sees_the_solution_beside_their_own_after_the_release_and_not_before(
    course: Course, released: Workspace, week: Week, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "ada"
    home.mkdir()
    student_step(ExchangeFetchAssignment, course, week, "ada", home)
    mine = open_folder(home / week.name)
    with pytest.raises(KitError, match="have not been released yet"):
        compare_with_solution(mine, "double")
    assert not [p for p in home.rglob("*") if p.is_file() and b"twice_the" in p.read_bytes()]
    release_solutions(course, week)
    student_step(
        ExchangeFetchAssignment, course, msgspec.structs.replace(week, name=OUT), "ada", home
    )
    shown = "\n".join(compare_with_solution(mine, "double"))
    assert "twice_the_number_that_came_in = x + x" in shown
    assert "3 gives 9. Try 3 by hand." in shown


@pytest.mark.parametrize(
    ("shows", "said"),
    [
        ("rows sum to 2.", "Rows sum to 2."),
        ("NaN for large scores.", "NaN for large scores."),
        ("-inf does not get 0.", "-inf does not get 0."),
        ("x.grad is empty.", "x.grad is empty."),
    ],
)
def test_how_a_mistake_shows_is_acapitalize_sentence(shows: str, said: str) -> None:
    assert capitalize_sentence(shows) == said
