"""Test adding the example of a new week to an existing week."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from autograder.authoring.scaffolding import add_exercise, new_course, with_exercise
from autograder.authoring.verify.hidden_tests import verify_part
from autograder.authoring.verify.public_files import verify_public
from autograder.grading.engine import Engine
from autograder.model.course import Course, load, parse
from autograder.model.errors import CourseError


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("author")
    new_course(root, "A course", "week01_pooling")
    return root


@pytest.fixture
def course(pristine: Path, tmp_path: Path) -> Course:
    return load(Path(shutil.copytree(pristine, tmp_path / "course")), unfinished=True)


def gaps(root: Path, *exercises: str) -> list[str]:
    """Return the gaps that `verify` finds in the hidden tests of these exercises."""
    course = load(root)
    week = course.weeks[-1]
    engine = Engine(course, week, ("cpu", "fake-gpu"), b"secret", None)
    try:
        return [g for e in exercises for g in verify_part(engine, e).gaps]
    finally:
        engine.close()


def test_the_example_is_added_to_a_week_and_passes_verify(course: Course) -> None:
    add_exercise(course, course.weeks[0], "rooted")
    assert gaps(course.root, "rooted") == []
    course = load(course.root)
    assert verify_public(course, course.weeks[0], "rooted").gaps == []


def test_a_module_without_torch_gets_the_import(course: Course) -> None:
    module = course.solution(course.weeks[0])
    module.write_text(module.read_text(encoding="utf-8").replace("import torch", "import math"))
    text = add_exercise(course, course.weeks[0], "rooted")[0].read_text(encoding="utf-8")
    assert re.search(r"\n\nimport torch\n\n\ndef rooted", text)


def test_verify_asks_for_the_row_of_a_new_exercise_in_the_readme(course: Course) -> None:
    add_exercise(course, course.weeks[0], "rooted")
    found = verify_public(load(course.root), load(course.root).weeks[0]).gaps
    assert [g for g in found if "README" in g] == [
        "exercises/week01_pooling/README.md has no row `| `rooted` | 2 |` in its table"
    ]


def test_a_duplicate_name_changes_nothing(course: Course) -> None:
    before = {p: p.read_bytes() for p in course.root.rglob("*") if p.is_file()}
    with pytest.raises(CourseError, match="already has an exercise pooling"):
        add_exercise(course, course.weeks[0], "pooling")
    assert {p: p.read_bytes() for p in course.root.rglob("*") if p.is_file()} == before


def test_a_failure_changes_nothing(course: Course) -> None:
    (course.graders(course.weeks[0]) / "test_rooted.py").write_text("mine", encoding="utf-8")
    before = {p: p.read_bytes() for p in course.root.rglob("*") if p.is_file()}
    with pytest.raises(CourseError, match="already exists"):
        add_exercise(course, course.weeks[0], "rooted")
    assert {p: p.read_bytes() for p in course.root.rglob("*") if p.is_file()} == before


def test_the_registry_keeps_its_layout(course: Course) -> None:
    text = (Path(__file__).resolve().parents[2] / "course.yaml").read_text(encoding="utf-8")
    grown = with_exercise(text, "week02_masking", "{name: window, points: 2}")
    assert [line for line in grown.split("\n") if line not in text.split("\n")] == [
        "      - {name: window, points: 2}"
    ]
    assert parse(grown).weeks[1].exercises[-1].name == "window"
