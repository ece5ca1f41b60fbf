"""What is written into nbgrader's tables is what nbgrader's own API writes there."""

from __future__ import annotations

import datetime as dt
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook, MissingEntry
from sqlalchemy import text

from autograder.nbgrader.autograde.batch_steps import plain_files
from autograder.nbgrader.autograde.bulk_entry import (
    CommentRow,
    GradeRow,
    ReleasedCells,
    SubmittedCells,
    entered,
    handed_in_times,
    penalty_of,
)
from autograder.nbgrader.autograde.notebook_cells import PassedCells
from autograder.nbgrader.workspace import prepare_process

NOON = dt.datetime(2027, 1, 20, 12)
pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # of nbgrader's own way
ABOUT = {"assignment": "a", "notebook": "n", "student": "ada"}


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of an assignment with a cell of each kind, and one that is marked and answered at once."""
    prepare_process()
    path = tmp_path_factory.mktemp("fresh") / "gradebook.db"
    gradebook = Gradebook(f"sqlite:///{path}", "c")
    gradebook.add_assignment("a", duedate=NOON)
    gradebook.add_notebook("n", "a")
    gradebook.add_grade_cell("code", "n", "a", max_score=2, cell_type="code")
    gradebook.add_grade_cell("essay", "n", "a", max_score=3, cell_type="markdown")
    gradebook.add_solution_cell("essay", "n", "a")
    gradebook.add_task_cell("task", "n", "a", max_score=5, cell_type="markdown")
    gradebook.add_source_cell("code", "n", "a", cell_type="code", source="1", checksum="x")
    gradebook.close()
    return path


@pytest.fixture
def gradebook(fresh: Path, tmp_path: Path) -> Any:
    shutil.copy(fresh, tmp_path)
    with Gradebook(f"sqlite:///{tmp_path / fresh.name}", "c") as gradebook:
        yield gradebook


def dump(gradebook: Any) -> dict[str, list[Any]]:
    """Every row of a submission, without the random ids."""
    asked = {
        "student": "SELECT * FROM student",
        "submission": "SELECT assignment_id, student_id, timestamp, extension "
        "FROM submitted_assignment",
        "notebook": "SELECT notebook_id, flagged, late_submission_penalty FROM submitted_notebook",
        "grade": "SELECT cell_id, auto_score, manual_score, extra_credit, needs_manual_grade "
        "FROM grade ORDER BY cell_id",
        "comment": "SELECT cell_id, auto_comment, manual_comment FROM comment ORDER BY cell_id",
    }
    rows = {kind: gradebook.db.execute(text(one)).all() for kind, one in asked.items()}
    gradebook.db.rollback()
    return rows


def enter(gradebook: Any, time: dt.datetime | None = NOON, names: Any = ("n",)) -> bool:
    done = entered(gradebook.db, "a", "ada", set(names), time)
    gradebook.db.commit()
    return done


@pytest.mark.parametrize("time", [None, NOON])
def test_a_submission_that_is_entered_is_the_one_that_nbgrader_adds(
    gradebook: Any, time: dt.datetime | None
) -> None:
    gradebook.update_or_create_student("ada")
    gradebook.update_or_create_submission("a", "ada", **({"timestamp": time} if time else {}))
    theirs = dump(gradebook)
    assert [len(rows) for rows in theirs.values()] == [1, 1, 1, 3, 2]
    gradebook.remove_submission("a", "ada")
    gradebook.remove_student("ada")
    assert enter(gradebook, time)
    assert dump(gradebook) == theirs
    gradebook.find_submission("a", "ada").extension = dt.timedelta(days=1)
    gradebook.find_grade("code", "n", "a", "ada").manual_score = 1.5
    gradebook.db.commit()
    before = dump(gradebook)
    later = NOON + dt.timedelta(hours=1)
    assert enter(gradebook, later)
    gradebook.db.expire_all()
    assert gradebook.find_submission("a", "ada").timestamp == later
    assert dump(gradebook)["grade"] == before["grade"]
    enter(gradebook, None)  # without a time nbgrader leaves the one that is there
    times = handed_in_times(gradebook.db, "ada")
    assert times == {"a": (NOON, later, dt.timedelta(days=1))}


@pytest.mark.parametrize("names", [(), ("other",), ("n", "other")])
def test_with_other_notebooks_nothing_is_entered(gradebook: Any, names: tuple[str, ...]) -> None:
    before = dump(gradebook)
    assert not enter(gradebook, names=names)
    assert not entered(gradebook.db, "unknown", "ada", {"n"}, NOON)
    assert dump(gradebook) == before


def test_what_is_scored_is_what_the_gradebook_holds(gradebook: Any) -> None:
    enter(gradebook)
    cells = SubmittedCells(gradebook.db, ABOUT)
    code: GradeRow = cells.find_grade("code")
    assert (code.auto_score, code.manual_score, code.needs_manual_grade) == (None, None, True)
    code.auto_score, code.needs_manual_grade = 1.5, False
    essay: CommentRow = cells.find_comment("essay")
    essay.auto_comment = "No response."
    cells.write()
    gradebook.db.commit()
    grade = gradebook.find_grade("code", "n", "a", "ada")
    assert (grade.auto_score, grade.needs_manual_grade, grade.score) == (1.5, False, 1.5)
    assert gradebook.find_comment("essay", "n", "a", "ada").auto_comment == "No response."
    assert gradebook.find_grade("task", "n", "a", "ada").auto_score is None
    assert penalty_of(gradebook.db, ABOUT) is None
    with pytest.raises(MissingEntry):
        cells.find_grade("gone")
    with pytest.raises(MissingEntry):
        SubmittedCells(gradebook.db, ABOUT | {"student": "bob"})


def test_a_released_cell_says_what_it_says_to_nbgrader(gradebook: Any) -> None:
    cells = ReleasedCells(gradebook.db, ABOUT)
    source = gradebook.find_source_cell("code", "n", "a")
    own = cells.find_source_cell("code")
    names = ("cell_type", "locked", "source", "checksum")
    assert [getattr(own, n) for n in names] == [getattr(source, n) for n in names]
    points = {name: cells.find_graded_cell(name).max_score for name in ("code", "essay", "task")}
    assert points == {"code": 2, "essay": 3, "task": 5}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda nb: nb.cells[1].update(source=7),
        lambda nb: nb.cells[1].update(id=["b"]),
        lambda nb: nb.cells.append("no cell"),
        lambda nb: nb.update(cells="none"),
        lambda nb: nb.pop("cells"),
        lambda nb: nb.update(metadata=[]),
        lambda nb: nb.cells[0].update(strange=1),
    ],
)
def test_a_notebook_that_is_spoilt_does_not_pass_because_most_of_it_is_known(spoil: Any) -> None:
    made = nbformat.v4
    cells = [made.new_markdown_cell("one", id="a"), made.new_code_cell("two", id="b")]
    first = made.new_notebook(cells=cells)
    passed = PassedCells(first)
    passed.check(first)
    spoil(first)
    with pytest.raises(Exception):  # noqa: B017, PT011  # whatever nbformat stumbles over
        nbformat.validate(first)
    with pytest.raises(Exception):  # noqa: B017, PT011
        passed.check(first)


def test_the_files_beside_a_notebook_are_those_that_nbgrader_finds(tmp_path: Path) -> None:
    from nbgrader.utils import find_all_files

    places = ("a.py", "b.pyc", ".hidden", ".x.pyc", "in/a.py", "__pycache__/c.py", "in/.y/d", "[q]")
    for name in places:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "in")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    ignored = ["*.pyc", "__pycache__", ".hid*", "*.ipynb"]
    found = [str(Path(p).relative_to(tmp_path)) for p in find_all_files(str(tmp_path), ignored)]
    assert sorted(plain_files(tmp_path, ignored)) == sorted(n for n in found if n != "link")
