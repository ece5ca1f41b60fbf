"""Test that a deleted or restored gradebook is filled again; nbgrader's messages stay hidden."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.cli import run
from autograder.model.course import Course, Week
from autograder.nbgrader.autograde.recorder import record
from autograder.nbgrader.collect.collector import collect
from autograder.nbgrader.workspace import Workspace, open_gradebook
from tests.nbgrader.tiny_course import SOLUTION, WEEK, graded, report
from tests.standings import standings

LOST = (
    "autograder: the gradebook has lost the scores of ada, bob in week01_tiny: run "
    "`autograder grade week01_tiny` to restore them from the stored results"
)


@pytest.fixture
def klass(course: Course, week: Week, hand_in: Callable[..., Path], notebook: str) -> Course:
    """Grade and record ada and bob."""
    for name in ("ada", "bob"):
        hand_in(name, {"doubling.py": SOLUTION, f"{WEEK}.ipynb": notebook})
    collect(course, week)
    record(course, week, report(graded("ada", 2, 1), graded("bob", 1, 0)))
    return course


@pytest.fixture
def lost(klass: Course, monkeypatch: pytest.MonkeyPatch) -> Course:
    (Workspace(klass).root / "gradebook.db").unlink()
    monkeypatch.chdir(klass.root)
    return klass


@pytest.mark.parametrize(
    "command",
    [["feedback", WEEK], ["export", WEEK], ["regrade", WEEK, "--preview", "--jobs", "1"]],
    ids=lambda command: command[0],
)
def test_what_needs_the_gradebook_says_how_to_fill_it_again(
    lost: Course, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    assert run(command) == 2
    assert capsys.readouterr().err.strip() == LOST


def test_recording_fills_it_again_and_says_what_is_gone(lost: Course, week: Week) -> None:
    done = record(lost, week, report(graded("ada", 2, 1), graded("bob", 1, 0)))
    assert "the gradebook had lost week01_tiny; it was restored" in done.notes[0]
    assert [(s.student, s.score) for s in standings(lost, week)] == [("ada", 3), ("bob", 1)]


def test_what_students_fetched_is_not_touched_by_that(lost: Course, week: Week) -> None:
    workspace = Workspace(lost)
    before = workspace.released(week).joinpath(f"{WEEK}.ipynb").read_bytes()
    record(lost, week, report(graded("ada", 2, 1)))
    for place in (workspace.released(week), workspace.outbound(week)):
        assert json.loads((place / f"{WEEK}.ipynb").read_bytes()) == json.loads(before)


def test_a_gradebook_of_an_old_backup_lacks_whoever_came_later(
    klass: Course, week: Week, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_gradebook(klass) as gradebook:
        gradebook.remove_submission(WEEK, "bob")
    monkeypatch.chdir(klass.root)
    assert run(["export", WEEK]) == 2
    assert "has lost the scores of bob in week01_tiny" in capsys.readouterr().err


def test_without_the_source_folder_the_release_is_asked_for(
    lost: Course, week: Week, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(Workspace(lost).source(week))
    assert run(["grade", WEEK, "--device", "cpu"]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.endswith("run `autograder release week01_tiny` to enter it again")


def test_cells_with_the_same_id_are_no_matter(
    course: Course,
    week: Week,
    hand_in: Callable[..., Path],
    notebook: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    doubled = json.loads(notebook)
    doubled["cells"] += doubled["cells"]
    hand_in("ada", {"doubling.py": SOLUTION, f"{WEEK}.ipynb": json.dumps(doubled)})
    collect(course, week, check_owner=False)
    done = record(course, week, report(graded("ada", 2, 1)))
    assert done.recorded == ["ada"]
    assert "DuplicateCellId" not in capsys.readouterr().err
