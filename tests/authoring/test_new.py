"""Test creating a week, filling it in and verifying it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from autograder.authoring.lesson.handout import lesson_notebook
from autograder.authoring.lesson.leak_check import check_files, secrets_of
from autograder.authoring.scaffolding import new_week, unfilled_placeholders, with_week
from autograder.model.availability import LIBRARIES
from autograder.model.course import Course, load, parse
from autograder.model.errors import CourseError
from autograder.model.source.rules import in_words
from autograder.student.folder.lessons import parse_hints

TINY = Path(__file__).resolve().parents[1] / "golden" / "course"
WEEK = "week02_spread"
COMMENTED = """\
# The course.
course: tiny  # short
title: A course
timezone: UTC
weeks:
  # the first
  - name: week01_tiny
    title: Tiny
    module: tiny.py
    release: 2027-01-11T09:00:00
    due: 2027-01-18T23:59:00
    exercises:
      - {name: weigh, points: 3}  # hard
    # not allowed yet: nothing

# What a submission may use.
limits:
  call_seconds: 2
"""
ENTRY = """\
- name: week02_next
  title: Next
  module: next_one.py
  release: 2027-01-18T09:00:00
  due: 2027-01-25T23:59:00
  exercises:
    - {name: step, points: 1}
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return Path(shutil.copytree(TINY, tmp_path / "tiny", ignore=shutil.ignore_patterns("__pyc*")))


@pytest.fixture
def course(tiny: Path) -> Course:
    return load(tiny)


def fill_in(root: Path) -> None:
    """Replace all placeholders, as an author would."""
    stub = root / "exercises" / WEEK / "spread.py"
    written = [p for p in root.rglob("*") if WEEK in str(p) and p.suffix in (".py", ".md")]
    paths = [p for p in written if p != stub]
    for path in [*paths, root / "course.yaml"]:
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r"FILL IN: ", "Written by the author: ", text), encoding="utf-8")


def test_the_readme_of_a_new_week_lists_the_allowed_imports(course):
    new_week(course, WEEK, "centered")
    text = (course.root / "exercises" / WEEK / "README.md").read_text(encoding="utf-8")
    assert in_words(LIBRARIES) in text


def test_a_new_week_passes_verify_once_its_placeholders_are_filled_in(tiny, in_process):
    made = in_process("new", WEEK, "--exercise", "centered", cwd=tiny)
    assert made.returncode == 0, made.stderr
    early = in_process("verify", WEEK, "--quick", cwd=tiny)
    assert early.returncode == 1
    assert set(re.findall(r"GAP  .*", early.stdout)) == {
        f"GAP  {place} is not filled in yet"
        for place in unfilled_placeholders(load(tiny), load(tiny).week(WEEK))
    }
    fill_in(tiny)
    assert "spread.py" in in_process("build", cwd=tiny).stdout
    done = in_process("verify", WEEK, "--quick", cwd=tiny)
    assert done.returncode == 0, done.stdout
    assert "1 alternative, 1 misconception: 0 gaps" in done.stdout


def test_a_course_starts_in_an_empty_folder(tmp_path, in_process):
    refused = in_process("new", WEEK, cwd=tmp_path)
    assert refused.returncode == 2
    assert "to start a course in this folder, use --course TITLE" in refused.stderr
    assert in_process("new", "--course", "Linear models", cwd=tmp_path).returncode == 0
    course = load(tmp_path)
    assert (course.title, course.id) == ("Linear models", "linear-models")
    assert [e.name for week in course.weeks for e in week.exercises] == ["centered"]
    assert "name a week" in in_process("new", cwd=tmp_path).stderr


def test_a_new_week_can_be_released(course: Course):
    new_week(course, WEEK)
    grown = load(course.root)
    week = grown.week(WEEK)
    folder = grown.exercise_folder(week)
    files = {p.name: p.read_bytes() for p in folder.iterdir()}
    check_files(files, secrets_of(grown, week), WEEK)
    graded = [c for c in lesson_notebook(grown, week).cells if "nbgrader" in c.metadata]
    assert [c.metadata["nbgrader"]["grade_id"] for c in graded] == ["spread", "why"]
    assert len(parse_hints(files["hints.md"].decode())["spread"]) == 3
    assert b"NotImplementedError" in files["spread.py"]


def test_a_new_week_is_due_one_week_after_the_last(course: Course):
    new_week(course, WEEK)
    first, second = load(course.root).weeks
    assert (second.due - first.due).days == 7


def test_the_registry_keeps_its_comments_and_later_settings():
    grown = with_week(COMMENTED, ENTRY)
    added = "\n" + "\n".join(f"  {line}" for line in ENTRY.strip().split("\n")) + "\n"
    place = COMMENTED.index("\n# What a submission")
    assert grown == COMMENTED[:place] + added + COMMENTED[place:]
    assert [w.name for w in parse(grown).weeks] == ["week01_tiny", "week02_next"]


def test_a_week_can_be_added_to_this_projects_registry():
    text = (TINY.parents[2] / "course.yaml").read_text(encoding="utf-8")
    grown = with_week(text, ENTRY.replace("week02_next", "week98_next"))
    assert parse(grown).weeks[-1].name == "week98_next"
    assert grown.startswith(text.rstrip("\n"))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("topic", "must look like week08_topic"),
        ("week2_topic", "must look like week08_topic"),
        ("week02_Topic", "must look like week08_topic"),
        ("week02_../../x", "must look like week08_topic"),
        ("week01_again", "already has week01_tiny"),
        ("week02_lambda", "keyword 'lambda'"),
        ("week02_random", "keyword 'random'"),
        ("week02_torch", "keyword 'torch'"),
    ],
)
def test_an_unusable_name_is_refused(course: Course, name: str, message: str):
    before = sorted(course.root.rglob("*"))
    with pytest.raises(CourseError, match=re.escape(message)):
        new_week(course, name)
    assert sorted(course.root.rglob("*")) == before


@pytest.mark.parametrize("place", ["exercises", "solutions", "autograder/graders"])
def test_an_existing_folder_is_left_unchanged(course: Course, place: str):
    (course.root / place / WEEK).mkdir()
    before = (course.root / "course.yaml").read_bytes(), sorted(course.root.rglob("*"))
    with pytest.raises(CourseError, match="already exists"):
        new_week(course, WEEK)
    assert ((course.root / "course.yaml").read_bytes(), sorted(course.root.rglob("*"))) == before


def test_an_exercise_needs_a_function_name(course: Course):
    with pytest.raises(CourseError, match="is not a function name"):
        new_week(course, WEEK, "Two Words")
