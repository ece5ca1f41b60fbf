"""Test that the demo's sample class comes from the bank of week 1 and from problem cases."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from autograder.model.course import Course, load
from autograder.model.course.bank import Bank
from autograder.model.errors import KitError
from autograder.nbgrader.demo import FOLDER, SampleStudent, make_project, module_of, sample_class

PROJECT = load(Path(__file__).resolve().parents[2])
CLASS = sample_class(PROJECT)


@pytest.fixture(scope="module")
def bank() -> Bank:
    return Bank(PROJECT, PROJECT.weeks[0])


def written(source: str) -> set[str]:
    """Return the functions of a module that do more than raise."""
    return {
        node.name
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and not isinstance(node.body[-1], ast.Raise)
    }


def test_there_are_twelve_of_them() -> None:
    assert len({p.name for p in CLASS}) == 12


@pytest.mark.parametrize("pupil", CLASS, ids=lambda p: p.name)
def test_everybody_hands_in_a_module_of_their_own(bank: Bank, pupil: SampleStudent) -> None:
    ast.parse(module_of(bank, pupil))


def test_who_got_half_way_has_the_rest_open(bank: Bank) -> None:
    (john,) = [p for p in CLASS if p.only]
    assert written(module_of(bank, john)) == set(john.only)


def test_a_course_without_a_sample_class_is_told_what_it_needs(course: Course) -> None:
    with pytest.raises(KitError, match=r"solutions/\w+/class\.yaml"):
        sample_class(course)


def test_a_folder_that_is_not_the_demos_is_left_alone(course: Course) -> None:
    own = course.root / FOLDER / "thesis.txt"
    own.parent.mkdir()
    own.write_text("mine", encoding="utf-8")
    with pytest.raises(KitError, match="was not made by the demo"):
        make_project(course)
    assert own.read_text(encoding="utf-8") == "mine"


def test_the_demos_folder_is_made_afresh(course: Course) -> None:
    first = make_project(course)
    (first.root / "left-over").touch()
    assert not (make_project(course).root / "left-over").exists()
