"""Test that a lesson in Markdown becomes a notebook that nbgrader grades."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.authoring.lesson.handout import (
    ANSWER,
    figures_used,
    lesson_notebook,
    make_notebook,
)
from autograder.model.course import Course, Week, load
from autograder.model.errors import BuildError
from tests.nbgrader.tiny_course import LESSON

PROJECT = load(Path(__file__).resolve().parents[2])
WRITTEN = [w for w in PROJECT.weeks if (PROJECT.exercise_folder(w) / "lesson.md").is_file()]
WHERE = "exercises/week01_tiny/lesson.md"


def cell_of(notebook: Any, name: str) -> Any:
    (cell,) = [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == name]
    return cell


def test_an_exercise_becomes_a_locked_graded_code_cell(week: Week) -> None:
    cell = cell_of(make_notebook(LESSON, week, WHERE), "double")
    assert (cell.cell_type, cell.source) == ("code", 'check("double")')
    assert cell.metadata.nbgrader == {
        "grade": True,
        "grade_id": "double",
        "locked": True,
        "points": 2.0,
        "schema_version": 3,
        "solution": False,
        "task": False,
    }


def test_a_question_becomes_a_cell_that_is_marked_by_hand(week: Week) -> None:
    cell = cell_of(make_notebook(LESSON, week, WHERE), "why")
    grading = cell.metadata.nbgrader
    assert (cell.cell_type, cell.source) == ("markdown", ANSWER)
    assert (grading.grade, grading.solution, grading.locked) == (True, True, False)
    assert grading.points == 3.0


def test_text_stays_around_the_answer_in_its_order(week: Week) -> None:
    texts = [c.source for c in make_notebook(LESSON, week, WHERE).cells]
    assert texts[-3:] == ["Why is that so?", ANSWER, "That was it."]


def test_other_cells_carry_no_grading(week: Week) -> None:
    notebook = make_notebook(LESSON, week, WHERE)
    assert [c.source for c in notebook.cells if "nbgrader" not in c.metadata][1] == (
        "from autograder import check"
    )


def test_the_same_lesson_makes_the_same_notebook(week: Week) -> None:
    first, second = (nbformat.writes(make_notebook(LESSON, week, WHERE)) for _ in range(2))
    assert first == second


def test_ids_of_other_cells_survive_a_new_paragraph(week: Week) -> None:
    before = {c.source: c.id for c in make_notebook(LESSON, week, WHERE).cells}
    changed = LESSON.replace("```python\nfrom", "Something new.\n\n```python\nfrom")
    after = {c.source: c.id for c in make_notebook(changed, week, WHERE).cells}
    assert all(after[source] == before[source] for source in list(before)[1:])


def test_equal_cells_have_different_ids(week: Week) -> None:
    twice = LESSON + "\n```python\n1 + 1\n```\n\nand\n\n```python\n1 + 1\n```\n"
    ids = [c.id for c in make_notebook(twice, week, WHERE).cells]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('check("halve")', "pass"), "the exercise 'halve' is missing"),
        (('check("halve")', 'x = 1\ncheck("halve")'), "the exercise 'halve' is missing"),
        (('check("halve")', 'check("double")'), 'check("double")` appears 2 times'),
        (('check("halve")', 'check("third")'), 'check("third")`: course.yaml has no exercise'),
        (("<!-- answer: why -->", ""), "the question 'why' is missing"),
        (("answer: why", "answer: how"), "<!-- answer: how -->`: course.yaml has no question"),
        (("That was it.", "<!-- answer: why -->"), "appears 2 times"),
    ],
)
def test_a_place_that_is_missing_doubled_or_unknown_is_named(
    week: Week, change: tuple[str, str], said: str
) -> None:
    with pytest.raises(BuildError) as raised:
        make_notebook(LESSON.replace(*change), week, WHERE)
    assert str(raised.value).startswith(f"{WHERE}: ")
    assert said in str(raised.value)


def test_figures_are_found_in_their_order() -> None:
    text = "![a](figures/b.png), ![c](figures/a.png) ![b](figures/b.png) ![x](other/c.png)"
    assert figures_used(text) == ["b.png", "a.png"]


def test_a_missing_lesson_is_named(course: Course, week: Week) -> None:
    (course.exercise_folder(week) / "lesson.md").unlink()
    with pytest.raises(
        BuildError, match=r"exercises/week01_tiny/lesson\.md: the lesson is missing"
    ):
        lesson_notebook(course, week)


@pytest.mark.parametrize("week", WRITTEN, ids=lambda w: w.name)
def test_every_lesson_of_this_course_has_all_its_places(week: Week) -> None:
    notebook = json.loads(nbformat.writes(lesson_notebook(PROJECT, week)))
    graded = [c for c in notebook["cells"] if "nbgrader" in c["metadata"]]
    assert len(graded) == len(week.exercises) + len(week.questions)
