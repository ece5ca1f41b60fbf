"""Every figure is up to date, in one style, and large enough to read."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from autograder.authoring.lesson.figure_content import content_of, differences
from autograder.authoring.lesson.figures import (
    RECORD,
    draw_figures,
    read_record,
    sources_digest,
    stale_figures,
)
from autograder.model.course import Course, load
from tests.courses import copy_course
from tests.weeks import each_week

PROJECT = load(Path(__file__).resolve().parents[2])
COLUMN = 8.0  # inches: about the width of a notebook's column
TRAINED = ("week01_softmax", "week05_transformer")  # figures of models that are trained first
every_week = pytest.mark.parametrize("week", PROJECT.weeks, ids=lambda w: w.name)


@each_week(PROJECT.weeks, thorough=TRAINED)
def test_every_figure_is_up_to_date(week) -> None:
    assert list(stale_figures(PROJECT, week, redraw=True)) == []


@every_week
def test_the_record_has_the_digest_of_the_current_sources(week) -> None:
    record = read_record(PROJECT, week)
    assert record is not None
    assert record["sources"] == sources_digest(PROJECT, week), "run `autograder build --figures`"


@every_week
def test_text_in_figures_can_be_read(week) -> None:
    record = read_record(PROJECT, week)
    assert record is not None
    for stem, told in record["figures"].items():
        shows = told["shows"]
        points = shows["smallest_text"] * min(1, COLUMN / shows["width"])
        assert points >= 6, f"{stem}: its smallest text is shown at {points:.1f} points"


@every_week
def test_no_axis_says_that_it_has_no_unit(week) -> None:
    record = read_record(PROJECT, week)
    assert record is not None
    words = [w for told in record["figures"].values() for w in told["shows"]["words"]]
    assert [w for w in words if "no unit" in w] == []


@every_week
def test_there_is_one_colour_scale(week) -> None:
    lesson = PROJECT.exercise_folder(week) / "lesson.md"
    sources = [lesson, *PROJECT.solution_folder(week).glob("*.py")]
    text = "".join(p.read_text(encoding="utf-8") for p in sources)
    assert set(re.findall(r"""cmap=["'](\w+)["']""", text)) <= {"Greys"}


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


def test_without_a_change_nothing_is_drawn(course: Course, monkeypatch) -> None:
    monkeypatch.setattr(Figure, "__init__", None)  # drawing fails now
    assert stale(course) == []


@pytest.fixture(scope="module")
def told_once(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What is told of three changes: of one figure's numbers, of another's words, of no figure."""
    changed = as_it_was_drawn(tmp_path_factory.mktemp("changed") / "course")
    edit(changed, "sliding_window_mask(12, 12, 4)", "sliding_window_mask(12, 12, 5)")
    edit(changed, '"Work for one new token"', '"Work for a new token"')
    edit(changed, "GIB = 2**30", "GIB = 1024**3  # the same")
    return stale(changed)


def test_a_figure_that_would_show_other_numbers_is_named(told_once: list[str]) -> None:
    (told,) = (t for t in told_once if "/windows " in t)
    assert "week08_serving/windows has changed: panel 2, image 1" in told


def test_a_figure_that_would_say_something_else_is_named(told_once: list[str]) -> None:
    (told,) = (t for t in told_once if "/windows " not in t)
    assert "work has changed: its text" in told


def test_a_change_that_shows_nothing_new_is_none(told_once: list[str]) -> None:
    assert len(told_once) == 2  # of the other two


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


def test_a_small_difference_of_numbers_is_none_and_a_larger_one_is() -> None:
    def shown(last: float) -> dict:
        figure = Figure()
        figure.subplots().plot([1.0, 2.0, last])
        return json.loads(json.dumps(content_of(figure)))

    kept = shown(3.0)
    assert differences(kept, shown(3.0001)) == []
    assert "panel 1, line 1 y" in differences(kept, shown(3.1))[-1]
