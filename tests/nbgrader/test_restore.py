"""Test that nbgrader grades the released cells even if the student changed the notebook."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import nbformat
import pytest

from autograder.authoring.lesson.handout import ANSWER, make_notebook
from autograder.model.course import Week
from autograder.nbgrader.collect.cell_repair import restored
from tests.nbgrader.tiny_course import LESSON

Cells = list[Any]


@pytest.fixture
def released(week: Week) -> Any:
    return make_notebook(LESSON, week, "lesson.md")


@pytest.fixture
def after(released: Any) -> Callable[[Callable[[Cells], Any]], Cells]:
    """Return the restored cells after a student changed theirs."""

    def after(done: Callable[[Cells], Any]) -> Cells:
        notebook = nbformat.from_dict(json.loads(json.dumps(released)))
        done(notebook.cells)
        cells: Cells = restored(notebook, released).cells
        nbformat.validate(nbformat.v4.new_notebook(cells=cells))
        return cells

    return after


def graded(cells: Cells) -> dict[str, Any]:
    return {c.metadata.nbgrader.grade_id: c for c in cells if "nbgrader" in c.metadata}


def at(cells: Cells, name: str) -> Any:
    return graded(cells)[name]


def test_an_untouched_notebook_stays_the_same(after: Any, released: Any) -> None:
    cells = after(lambda cells: None)
    assert [(c.cell_type, c.source, c.metadata) for c in cells] == [
        (c.cell_type, c.source, c.metadata) for c in released.cells
    ]


def test_a_deleted_cell_is_back(after: Any) -> None:
    def delete(cells: Cells) -> None:
        cells.remove(at(cells, "double"))

    assert list(graded(after(delete))) == ["halve", "why", "double"]


def test_a_doubled_cell_counts_once(after: Any) -> None:
    cells = after(lambda cells: cells.append(at(cells, "double")))
    assert sorted(c.source for c in cells).count('check("double")') == 2
    assert sorted(graded(cells)) == ["double", "halve", "why"]


@pytest.mark.parametrize(
    "forged",
    [
        {"grade": False},
        {"solution": True},
        {"locked": False},
        {"points": 1000.0},
        {"points": "many"},
        {"schema_version": 1},
        {"schema_version": 99},
        {"task": True},
    ],
    ids=str,
)
def test_forged_metadata_is_put_right(after: Any, released: Any, forged: dict[str, Any]) -> None:
    cells = after(lambda cells: at(cells, "double").metadata.nbgrader.update(forged))
    assert at(cells, "double").metadata == at(released.cells, "double").metadata


@pytest.mark.parametrize("garbage", [7, "double", {"grade_id": ["double"]}, {}], ids=str)
def test_metadata_that_is_no_metadata_is_dropped(after: Any, garbage: Any) -> None:
    def spoil(cells: Cells) -> None:
        cells[0].metadata["nbgrader"] = garbage

    assert sorted(graded(after(spoil))) == ["double", "halve", "why"]


def test_a_locked_cell_gets_its_text_back(after: Any) -> None:
    cells = after(lambda cells: at(cells, "double").update(source="100"))
    assert at(cells, "double").source == 'check("double")'


def test_a_retyped_cell_gets_its_type_back(after: Any) -> None:
    def retype(cells: Cells) -> None:
        cells[cells.index(at(cells, "double"))] = nbformat.v4.new_markdown_cell(
            "mine", metadata=at(cells, "double").metadata
        )

    assert at(after(retype), "double").cell_type == "code"


def test_outputs_are_gone(after: Any) -> None:
    forged = nbformat.v4.new_output("execute_result", {"text/plain": "2"})
    cells = after(lambda cells: at(cells, "double").update(outputs=[forged]))
    assert at(cells, "double").outputs == []


def test_an_answer_keeps_its_words(after: Any) -> None:
    cells = after(lambda cells: at(cells, "why").update(source="Because $a<b$ and 1 < 2."))
    assert at(cells, "why").source == "Because $a< b$ and 1 < 2."


def test_an_untouched_answer_is_recognised_as_such(after: Any) -> None:
    assert at(after(lambda cells: None), "why").source == ANSWER


@pytest.mark.parametrize("name", ["why", None])
def test_html_of_a_student_is_no_html_any_more(after: Any, name: str | None) -> None:
    def write(cells: Cells) -> None:
        cell = at(cells, name) if name else cells[0]
        cell.source = "<script>steal()</script><img src=x onerror=steal()>"

    text = "".join(c.source for c in after(write))
    assert "<script" not in text
    assert "<img" not in text
    assert "steal()" in text


def test_a_raw_cell_becomes_text(after: Any) -> None:
    raw = nbformat.v4.new_raw_cell("<script>1</script>", metadata={"raw_mimetype": "text/html"})
    last = after(lambda cells: cells.append(raw))[-1]
    assert (last.cell_type, last.source) == ("markdown", "< script>1< /script>")


def test_a_pasted_picture_is_kept_and_a_drawing_with_scripts_is_not(after: Any) -> None:
    def paste(cells: Cells) -> None:
        at(cells, "why")["attachments"] = {
            "a.png": {"image/png": "iVBORw0KGgo="},
            "b.svg": {"image/svg+xml": "<svg onload='steal()'/>"},
        }

    assert at(after(paste), "why").attachments == {"a.png": {"image/png": "iVBORw0KGgo="}}


def test_cells_of_ones_own_are_kept(after: Any) -> None:
    own = nbformat.v4.new_code_cell("print('trying')")
    assert after(lambda cells: cells.insert(3, own))[3].source == "print('trying')"


def test_a_flood_of_cells_leaves_what_is_graded(after: Any) -> None:
    flood = [nbformat.v4.new_code_cell("x" * 10_000) for _ in range(200)]
    assert sorted(graded(after(lambda cells: cells.extend(flood)))) == ["double", "halve", "why"]
