"""Test that marking guidance appears below the student's answer in Formgrader only."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from autograder.authoring.lesson.marking_guide import answers_path
from autograder.model.course import Course, Week
from autograder.nbgrader.formgrader.safe_pages import environment, guides_of
from autograder.nbgrader.formgrader.submitted_cells import rendered_cells
from autograder.nbgrader.workspace import Workspace

RESOURCES = {
    "assignment_id": "week01_tiny",
    "notebook_id": "week01_tiny",
    "submission_id": "1",
    "index": 0,
    "total": 1,
    "base_url": "",
    "student": "ada",
    "last_name": "",
    "first_name": "",
    "notebook_path": "",
    "nonce": "n",
}


def page(course: Course, released: Workspace, week: Week) -> str:
    """Return the page of a submission in Formgrader."""
    notebook = nbformat.read(released.outbound(week) / f"{week.name}.ipynb", as_version=4)
    return (
        environment()
        .get_template("marking.html.j2")
        .render(
            resources=RESOURCES,
            cells=rendered_cells(notebook.cells, Path("nowhere")),
            guides=guides_of(course.root, week.name),
            highlighting="",
        )
    )


def test_the_model_answer_stands_below_the_answers_field(
    course: Course, released: Workspace, week: Week
) -> None:
    shown = page(course, released, week)
    assert shown.index('id="why-comment"') < shown.index("two of that number, as <math")


def test_a_rubric_line_shows_its_points(course: Course, released: Workspace, week: Week) -> None:
    assert '<th scope="row">2</th><td><p>says that adding twice' in page(course, released, week)


def test_a_comment_can_be_put_into_the_field_as_it_was_written(
    course: Course, released: Workspace, week: Week
) -> None:
    text = 'data-comment="Whose rule? Lay out three beans twice and *count* them."'
    assert text in page(course, released, week)


def test_only_answers_have_a_guide(course: Course, released: Workspace, week: Week) -> None:
    assert page(course, released, week).count('<details class="guide"') == 1


@pytest.mark.parametrize("broken", ["course.yaml", "answers"])
def test_marking_goes_on_without_a_guide(
    course: Course, released: Workspace, week: Week, broken: str
) -> None:
    path = course.root / "course.yaml" if broken == "course.yaml" else answers_path(course, week)
    path.unlink()
    assert 'class="guide"' not in page(course, released, week)
