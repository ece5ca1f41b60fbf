"""Test that mutants change only single places between solution marks."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from autograder.authoring.verify.mutants import excuses, mutants
from autograder.model.course import Course, load

SOLUTION = '''\
import torch


def shift(x, by=1):
    """Moves."""
    given = 7
    # BEGIN SOLUTION
    if by < 0:
        by = -by
    return x.amax(dim=0, keepdim=True) + by
    # END SOLUTION
'''


@pytest.fixture(scope="module")
def labels() -> list[str]:
    return [m.label for m in mutants(SOLUTION)]


@pytest.mark.parametrize(
    "label",
    [
        "shift: by < 0 -> by <= 0",
        "shift: -by -> by",
        "shift: x.amax -> x.amin",
        "shift: True -> False",
        "shift: x.amax(dim=0, keepdim=True) + by -> x.amax(dim=0, keepdim=True) - by",
        "shift: x.amax(dim=0, keepdim=True) -> x.amax(dim=0)",
        "shift: by = -by -> pass",
    ],
)
def test_a_small_change_is_made(labels: list[str], label: str) -> None:
    assert label in labels


def test_code_that_students_get_is_not_changed(labels: list[str]) -> None:
    assert not [label for label in labels if "7" in label or "by=1" in label]


def test_every_mutant_is_a_different_program() -> None:
    sources = [m.source for m in mutants(SOLUTION)]
    assert all(ast.parse(s) for s in sources)
    assert len(set(sources)) == len(sources)


def test_a_condition_becomes_true_and_false(labels: list[str]) -> None:
    assert len([label for label in labels if label.startswith("shift: if by < 0")]) == 2


def test_an_equivalent_mutant_is_listed_with_its_reason(tmp_path: Path) -> None:
    import shutil

    golden = Path(__file__).resolve().parents[1] / "golden" / "course"
    shutil.copytree(golden, tmp_path / "course", ignore=shutil.ignore_patterns("__pycache__"))
    course: Course = load(tmp_path / "course")
    path = course.solution_folder(course.weeks[0]) / "equivalent.txt"
    path.write_text("weigh: a -> b  # the same\n", encoding="utf-8")
    assert excuses(course, course.weeks[0])["weigh: a -> b"] == "the same"
