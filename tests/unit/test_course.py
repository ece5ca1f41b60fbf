"""The registry: a mistake gives one line with the path to the value."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.model.course import load, parse
from autograder.model.errors import CourseError

GOOD = """\
course: attention
title: Attention
timezone: Europe/Zurich
weeks:
  - name: week01_softmax
    title: Softmax
    module: softmax.py
    release: 2027-01-11T09:00:00
    due: 2027-01-18T23:59:00
    exercises:
      - {name: softmax, points: 2}
      - {name: logsumexp, points: 1.5}
    questions:
      - {name: temperature, points: 2}
"""


def test_a_good_registry_is_read_into_typed_objects():
    registry = parse(GOOD)
    assert [e.points for e in registry.weeks[0].exercises] == [2.0, 1.5]


@pytest.mark.parametrize(
    ("before", "after", "where", "what"),
    [
        ("points: 1.5", "points: -1", "weeks[0].exercises[1].points", "must not be negative"),
        ("name: logsumexp", "name: softmax", "weeks[0].exercises[1].name", "already the name of"),
        ("points: 2}", "points: two}", "weeks[0].exercises[0].points", "expected `float`"),
        ("title: Softmax", "titel: Softmax", "weeks[0]", "unknown field `titel`"),
        ("2027-01-18T23", "2027-01-10T23", "weeks[0].due", "is not after the release"),
        ("Europe/Zurich", "Europe/Atlantis", "timezone", "is no time zone"),
        ("softmax.py", "softmax.ipynb", "weeks[0].module", "must be a Python file"),
        ("week01_softmax", "first_week", "weeks[0].name", "must look like week01_topic"),
        ("    module: softmax.py\n", "", "weeks[0]", "missing required field `module`"),
        ("course: attention", "course: [", " line", ""),
    ],
)
def test_a_mistake_is_one_line_with_the_path_to_the_value(before, after, where, what):
    with pytest.raises(CourseError) as caught:
        parse(GOOD.replace(before, after, 1))
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("course.yaml:")
    assert where in message
    assert what in message


def test_a_missing_folder_is_named(tmp_path: Path):
    (tmp_path / "course.yaml").write_text(GOOD)
    with pytest.raises(CourseError, match=r"weeks\[0\].name: the folder exercises/week01_softmax"):
        load(tmp_path)


def test_an_instructor_also_needs_the_solutions_folder(tmp_path: Path):
    (tmp_path / "course.yaml").write_text(GOOD)
    (tmp_path / "exercises" / "week01_softmax").mkdir(parents=True)
    (tmp_path / "solutions").mkdir()
    with pytest.raises(CourseError, match="solutions/week01_softmax is missing"):
        load(tmp_path)


@pytest.mark.parametrize("name", ["week01_softmax", "week1", "week01", "1", "01"])
def test_a_week_goes_by_its_name_or_number(project: Path, name: str):
    assert load(project).week(name).name == "week01_softmax"


def test_an_unknown_week_lists_the_known_ones(project: Path):
    with pytest.raises(CourseError, match="there are week01_softmax"):
        load(project).week("week99")


def test_dates_are_in_the_courses_time_zone(project: Path):
    course = load(project)
    release = course.localized(course.week("1").release)
    assert release.utcoffset() is not None
    assert release.utcoffset().total_seconds() == 3600


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("postgresql+psycopg://teacher:hunter2@host/grades", "holds a password"),
        ("postgresql+psycopg://teacher@/grades?host=/run&password=hunter2", "holds a password"),
        ("mysql://teacher@host/grades", "must look like postgresql+psycopg://"),
        ("postgresql://[hunter2", "is no URL"),
    ],
)
def test_a_gradebook_that_cannot_be_taken_is_named_without_its_password(url: str, what: str):
    with pytest.raises(CourseError, match=r"nbgrader\.db_url: .*") as caught:
        parse(f"{GOOD}nbgrader: {{db_url: '{url}'}}\n")
    assert what in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_gradebook_on_a_server_is_taken():
    url = "postgresql+psycopg://teacher@/grades?host=/run/postgresql"
    assert parse(f"{GOOD}nbgrader: {{db_url: '{url}'}}\n").nbgrader.db_url == url


@pytest.mark.parametrize("name", ["../solutions/week01_softmax", "/etc", "a/../../b", ""])
@pytest.mark.parametrize("place", ["files", "folders"])
def test_what_is_handed_out_lies_in_the_folder_it_is_taken_from(name: str, place: str) -> None:
    with pytest.raises(CourseError, match=rf"weeks\[0\].{place}\[0\]: .*must lie in the folder"):
        parse(f"{GOOD}    {place}: ['{name}']\n")
