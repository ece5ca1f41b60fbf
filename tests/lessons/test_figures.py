"""Every figure is up to date, in one style, and large enough to read."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from autograder.authoring.lesson.figures import (
    RECORD,
    draw_figures,
    read_record,
    stale_figures,
)
from autograder.model.course import Course, load
from tests.courses import copy_course
from tests.lessons.figure_contents import PROJECT, recorded

COLUMN = 8.0  # inches: about the width of a notebook's column
every_week = pytest.mark.parametrize("week", PROJECT.weeks, ids=lambda w: w.name)


@every_week
def test_every_figure_is_up_to_date(week) -> None:
    assert list(stale_figures(PROJECT, week)) == []


@every_week
def test_the_recorded_contents_are_those_of_the_figures(week) -> None:
    record = read_record(PROJECT, week)
    assert record is not None
    files = {stem: entry["hash"] for stem, entry in record["figures"].items()}
    kept = {stem: shows["hash"] for stem, shows in recorded(week).items()}
    assert kept == files, "run python -m tests.lessons.figure_contents"


@every_week
def test_text_in_figures_can_be_read(week) -> None:
    for stem, shows in recorded(week).items():
        points = shows["smallest_text"] * min(1, COLUMN / shows["width"])
        assert points >= 6, f"{stem}: its smallest text is shown at {points:.1f} points"


@every_week
def test_no_axis_says_that_it_has_no_unit(week) -> None:
    words = [w for shows in recorded(week).values() for w in shows["words"]]
    assert [w for w in words if "no unit" in w] == []


@every_week
def test_there_is_one_colour_scale_and_one_for_signed_values(week) -> None:
    lesson = PROJECT.exercise_folder(week) / "lesson.md"
    sources = [lesson, *PROJECT.solution_folder(week).glob("*.py")]
    text = "".join(p.read_text(encoding="utf-8") for p in sources)
    assert set(re.findall(r"""cmap=["'](\w+)["']""", text)) <= {"Greys", "RdBu"}


@every_week
def test_line_art_follows_a_reader_who_prefers_dark_pages(week) -> None:
    for path in PROJECT.figures(week).glob("*.svg"):
        assert "prefers-color-scheme: dark" in path.read_text(encoding="utf-8"), path.name


def as_it_was_drawn(target: Path) -> Course:
    """Week 8."""
    root = copy_course(target, ("week08_serving",))
    shutil.copy(PROJECT.root / "assets" / "figures.mplstyle", root / "assets")
    for shared in (PROJECT.root / "solutions").glob("*.py"):
        shutil.copy(shared, root / "solutions")
    return load(root)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return as_it_was_drawn(tmp_path / "course")


def edit(course: Course, before: str, after: str) -> None:
    path = course.solution_folder(course.weeks[0]) / "figures.py"
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")


def stale(course: Course) -> list[str]:
    return list(stale_figures(course, course.weeks[0]))


def test_a_changed_source_is_reported(course: Course) -> None:
    assert stale(course) == []
    edit(course, "sliding_window_mask(12, 12, 4)", "sliding_window_mask(12, 12, 5)")
    (told,) = stale(course)
    assert "the sources of its figures have changed: run `autograder build --figures`" in told


def test_a_file_that_was_not_drawn_is_named(course: Course) -> None:
    (course.figures(course.weeks[0]) / "work.svg").write_text("<svg/>")
    (told,) = stale(course)
    assert "work.svg was changed by hand" in told


@pytest.mark.parametrize("name", ["work.svg", RECORD])
def test_what_is_missing_is_named(course: Course, name: str) -> None:
    (course.figures(course.weeks[0]) / name).unlink()
    assert f"{name} is missing: run `autograder build --figures`" in stale(course)[0]


@pytest.mark.thorough
def test_drawn_twice_it_is_the_same_file(course: Course) -> None:
    before = (course.figures(course.weeks[0]) / "work.svg").read_bytes()
    draw_figures(course, course.weeks[0])
    assert (course.figures(course.weeks[0]) / "work.svg").read_bytes() == before
