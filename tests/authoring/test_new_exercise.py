"""Test adding the example of a new week to an existing week."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from autograder.authoring.scaffolding import add_exercise, new_course, new_week, with_exercise
from autograder.authoring.verify.hidden_tests import verify_part
from autograder.authoring.verify.public_files import verify_public
from autograder.cli.author.weeks import new
from autograder.grading.engine import Engine
from autograder.model.course import Course, load, parse
from autograder.model.course.stubs import write_stub
from autograder.model.errors import CourseError
from tests.authoring.complete_exercise import EXERCISE, WEEK, files_on_the_page, write_exercise


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("author")
    new_course(root, "A course", "week01_pooling", torch=True)
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
    add_exercise(course, course.weeks[0], "shifted")
    assert gaps(course.root, "shifted") == []
    course = load(course.root)
    assert verify_public(course, course.weeks[0], "shifted").gaps == []


def test_a_course_in_numpy_gets_examples_without_torch(tmp_path: Path) -> None:
    new_course(tmp_path, "Linear models", "week01_pooling")
    new_week(load(tmp_path, unfinished=True), "week02_more")
    course = load(tmp_path)
    add_exercise(course, course.weeks[1], "shifted")
    assert gaps(tmp_path, "more", "shifted") == []
    texts = {p: p.read_text(encoding="utf-8") for p in tmp_path.rglob("*.*") if p.is_file()}
    assert [p for p, text in texts.items() if "torch" in text.lower()] == []


def test_the_complete_exercise_of_the_page_passes_verify(tmp_path: Path) -> None:
    new_course(tmp_path, "Statistics", WEEK, EXERCISE)
    kinds = {path.split("/")[0] for path in files_on_the_page()}
    assert kinds == {"solutions", "autograder", "exercises"}
    write_exercise(tmp_path)
    assert gaps(tmp_path, EXERCISE) == []
    course = load(tmp_path)
    write_stub(course, course.weeks[0])
    assert verify_public(course, course.weeks[0], EXERCISE).gaps == []


def test_an_added_exercise_has_points_to_check_but_no_dates(
    course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(course.root)
    new("week01", exercise="shifted")
    said = capsys.readouterr().out
    assert "added shifted to week01_pooling in course.yaml: check its points\n" in said


def test_a_week_in_torch_follows_one_in_numpy(tmp_path: Path) -> None:
    new_course(tmp_path, "Linear models", "week01_pooling")
    new_week(load(tmp_path, unfinished=True), "week02_tensors", torch=True)
    assert gaps(tmp_path, "tensors") == []


def test_a_module_without_torch_gets_the_import(course: Course) -> None:
    module = course.solution(course.weeks[0])
    module.write_text(module.read_text(encoding="utf-8").replace("import torch", "import math"))
    text = add_exercise(course, course.weeks[0], "shifted")[0].read_text(encoding="utf-8")
    assert re.search(r"\n\nimport torch\n\n\ndef shifted", text)


def test_verify_asks_for_the_row_of_a_new_exercise_in_the_readme(course: Course) -> None:
    add_exercise(course, course.weeks[0], "shifted")
    found = verify_public(load(course.root), load(course.root).weeks[0]).gaps
    assert [g for g in found if "README" in g] == [
        "exercises/week01_pooling/README.md has no row `| `shifted` | 2 |` in its table"
    ]


def test_a_duplicate_name_changes_nothing(course: Course) -> None:
    before = {p: p.read_bytes() for p in course.root.rglob("*") if p.is_file()}
    with pytest.raises(CourseError, match="already has an exercise pooling"):
        add_exercise(course, course.weeks[0], "pooling")
    assert {p: p.read_bytes() for p in course.root.rglob("*") if p.is_file()} == before


def test_a_failure_changes_nothing(course: Course) -> None:
    (course.graders(course.weeks[0]) / "test_shifted.py").write_text("mine", encoding="utf-8")
    before = {p: p.read_bytes() for p in course.root.rglob("*") if p.is_file()}
    with pytest.raises(CourseError, match="already exists"):
        add_exercise(course, course.weeks[0], "shifted")
    assert {p: p.read_bytes() for p in course.root.rglob("*") if p.is_file()} == before


def test_the_registry_keeps_its_layout(course: Course) -> None:
    text = (Path(__file__).resolve().parents[2] / "course.yaml").read_text(encoding="utf-8")
    grown = with_exercise(text, "week02_masking", "{name: window, points: 2}")
    assert [line for line in grown.split("\n") if line not in text.split("\n")] == [
        "      - {name: window, points: 2}"
    ]
    assert parse(grown).weeks[1].exercises[-1].name == "window"
