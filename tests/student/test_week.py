"""Finding a week's folder, its exercises and its lesson."""

from __future__ import annotations

import msgspec
import pytest

from autograder.model.errors import KitError
from autograder.student.folder.lessons import heading_of
from autograder.student.folder.week import WeekFile, describe_week, open_all, open_folder


def test_a_folder_is_found_from_below(tiny):
    below = tiny.path / "figures"
    below.mkdir()
    assert open_folder(below).path == tiny.path


def test_beside_the_weeks_the_error_names_them(tiny):
    with pytest.raises(KitError, match="week03_tiny"):
        open_folder(tiny.path.parent)


def test_a_damaged_description_says_so(tiny):
    (tiny.path / "week.json").write_text("{}")
    with pytest.raises(KitError, match="is damaged"):
        open_folder(tiny.path)


def test_the_longest_name_owns_a_test(tiny):
    found = [
        tiny.exercise_of(f"test_{t}") for t in ("double_x", "double_all_x", "double", "doubled")
    ]
    assert found == ["double", "double_all", "double", ""]


@pytest.mark.parametrize("number", range(8))
def test_a_checkout_is_a_week_too_and_described_as_released(number, course):
    if number >= len(course.weeks):
        pytest.skip("the course has fewer weeks")
    week = course.weeks[number]
    opened = open_folder(course.exercise_folder(week))
    assert opened.week == msgspec.json.decode(describe_week(course, week), type=WeekFile)
    assert course.exercise_folder(week) not in opened.memory.parents


def test_a_description_holds_no_line_of_a_solution(course, week1, bank):
    text = (week1 / "week.json").read_text("utf-8")
    assert "x.amax" not in text
    assert "x.amax" in bank.solution


def test_all_weeks_are_found_from_within_one(tiny, week1):
    assert [f.path.name for f in open_all(tiny.path)] == ["week01_softmax", "week03_tiny"]


def test_the_lesson_is_pointed_to_by_its_heading(tiny):
    assert heading_of(tiny, "shout") == "lesson.md, section “2 · Shouting”"


def test_a_notebook_is_preferred(tiny):
    cells = [
        {"cell_type": "markdown", "source": ["## A\n", "text"]},
        {"cell_type": "code", "source": 'check("shout")'},
    ]
    (tiny.path / "week03_tiny.ipynb").write_bytes(msgspec.json.encode({"cells": cells}))
    assert heading_of(tiny, "shout") == "week03_tiny.ipynb, section “A”"
