"""Test that a mistake in the registry gives one line with the path to the value."""

from __future__ import annotations

import re
import shutil
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


def test_a_valid_registry_becomes_typed_objects():
    registry = parse(GOOD)
    assert [e.points for e in registry.weeks[0].exercises] == [2.0, 1.5]


@pytest.mark.parametrize(
    ("before", "after", "where", "what"),
    [
        ("points: 1.5", "points: -1", "weeks[0].exercises[1].points", "must be at least 0"),
        ("name: logsumexp", "name: softmax", "weeks[0].exercises[1].name", "already the name of"),
        ("points: 2}", "points: two}", "weeks[0].exercises[0].points", "expected `float`"),
        ("title: Softmax", "titel: Softmax", "weeks[0]", "unknown field `titel`"),
        ("2027-01-18T23", "2027-01-10T23", "weeks[0].due", "is not after the release"),
        ("Europe/Zurich", "Europe/Atlantis", "timezone", "is not a time zone"),
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


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """Create a complete course of one week with a lesson, a file and a folder to release."""
    golden = Path(__file__).resolve().parent.parent / "golden" / "course"
    root = tmp_path / "course"
    shutil.copytree(golden, root, ignore=shutil.ignore_patterns("__pycache__", ".autograder"))
    week = root / "exercises" / "week01_tiny"
    (week / "lesson.md").write_text(
        '```python\ncheck("weigh")\n```\n```python\ncheck("Scale")\n```\n<!-- answer: why -->\n'
    )
    (root / "exercises" / "capstone").mkdir()
    (root / "assets").mkdir()
    (root / "assets" / "verses.txt").touch()
    more = "    files: [verses.txt]\n    folders: [capstone]\n"
    more += "    questions: [{name: why, points: 1}]\n"
    registry = root / "course.yaml"
    registry.write_text(registry.read_text() + more)
    load(root)
    return root


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            "module: tiny.py",
            "module: tinny.py",
            "weeks[0].module: solutions/week01_tiny/tinny.py does not exist: "
            "did you mean 'tiny.py'?",
        ),
        (
            "name: weigh,",
            "name: weight,",
            "weeks[0].exercises[0].name: solutions/week01_tiny/tiny.py does not define 'weight': "
            "did you mean 'weigh'?",
        ),
        (
            "[verses.txt]",
            "[verse.txt]",
            "weeks[0].files[0]: assets/verse.txt does not exist: did you mean 'verses.txt'?",
        ),
        (
            "[capstone]",
            "[capstones]",
            "weeks[0].folders[0]: exercises/capstones does not exist: did you mean 'capstone'?",
        ),
        (
            "name: Scale, points: 2",
            "name: Scale, points: 2, extra: kears",
            "weeks[0].exercises[1].extra: 'kears' is neither an extra of pyproject.toml nor an "
            "installed library: did you mean 'keras'?",
        ),
        (
            "      - {name: Scale, points: 2}\n",
            "",
            "weeks[0].exercises: autograder/graders/week01_tiny/test_Scale.py grades 'Scale', "
            "which is not listed: add it, or remove the file",
        ),
        (
            "name: week01_tiny",
            "name: week01_tinny",
            "weeks[0].name: the folder exercises/week01_tinny is missing: "
            "did you mean 'week01_tiny'?",
        ),
    ],
)
def test_loading_reports_names_that_do_not_exist(tiny: Path, before: str, after: str, message: str):
    registry = tiny / "course.yaml"
    text = registry.read_text()
    assert before in text
    registry.write_text(text.replace(before, after))
    with pytest.raises(CourseError) as caught:
        load(tiny)
    said, _, line = str(caught.value).rpartition(" (line ")
    assert said == f"course.yaml: {message}"
    assert line.rstrip(")").isdigit()


@pytest.mark.parametrize(
    ("gone", "message"),
    [
        ("autograder/graders/week01_tiny/test_weigh.py", "'weigh' has no grader: write"),
        ("solutions/week01_tiny/tiny.py", "solutions/week01_tiny/tiny.py does not exist; there is"),
    ],
)
def test_loading_reports_missing_files(tiny: Path, gone: str, message: str):
    (tiny / gone).unlink()
    with pytest.raises(CourseError, match=re.escape(message)):
        load(tiny)


def test_an_unfinished_course_can_be_loaded(tiny: Path):
    (tiny / "autograder/graders/week01_tiny/test_weigh.py").unlink()
    assert load(tiny, unfinished=True).weeks[0].name == "week01_tiny"


@pytest.mark.parametrize("name", ["week01_softmax", "week1", "week01", "1", "01"])
def test_a_week_is_found_by_name_or_number(project: Path, name: str):
    assert load(project).week(name).name == "week01_softmax"


def test_an_unknown_week_lists_the_known_ones(project: Path):
    with pytest.raises(CourseError, match="its weeks are week01_softmax"):
        load(project).week("week99")


def test_dates_are_in_the_courses_time_zone(project: Path):
    course = load(project)
    release = course.localized(course.week("1").release)
    assert release.utcoffset() is not None
    assert release.utcoffset().total_seconds() == 3600


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("postgresql+psycopg://teacher:hunter2@host/grades", "contains a password"),
        ("postgresql+psycopg://teacher@/grades?host=/run&password=hunter2", "contains a password"),
        ("mysql://teacher@host/grades", "must look like postgresql+psycopg://"),
        ("postgresql://[hunter2", "must look like postgresql+psycopg://"),
    ],
)
def test_an_invalid_gradebook_url_is_reported_without_its_password(url: str, what: str):
    with pytest.raises(CourseError, match=r"nbgrader\.db_url: .*") as caught:
        parse(f"{GOOD}nbgrader: {{db_url: '{url}'}}\n")
    assert what in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_gradebook_on_a_server_is_accepted():
    url = "postgresql+psycopg://teacher@/grades?host=/run/postgresql"
    assert parse(f"{GOOD}nbgrader: {{db_url: '{url}'}}\n").nbgrader.db_url == url


@pytest.mark.parametrize("name", ["../solutions/week01_softmax", "/etc", "a/../../b", ""])
@pytest.mark.parametrize("place", ["files", "folders"])
def test_released_files_must_be_inside_their_folder(name: str, place: str) -> None:
    with pytest.raises(
        CourseError, match=rf"weeks\[0\].{place}\[0\]: .*must be a path inside its folder"
    ):
        parse(f"{GOOD}    {place}: ['{name}']\n")


def test_counts_is_a_setting_of_the_whole_course():
    assert parse(GOOD).counts == "latest"
    assert parse(GOOD + "counts: best\n").counts == "best"
    with pytest.raises(CourseError, match="counts: "):
        parse(GOOD + "counts: first\n")
