"""Test that a release goes through nbgrader into an exchange that students can fetch from."""

from __future__ import annotations

import datetime as dt
import json
import stat

import pytest

from autograder.batch.intake import is_wanted
from autograder.model.course import Course, Week
from autograder.model.errors import BuildError, NbgraderError
from autograder.nbgrader.release.publish import release
from autograder.nbgrader.workspace import CONFIG, Workspace, open_gradebook
from tests.nbgrader.tiny_course import LESSON, WEEK

FILES = [
    "AGENTS.md",
    "INSTALL.md",
    "README.md",
    "doubling.py",
    "figures/numbers.png",
    "hints.md",
    "test_doubling.py",
    "week.json",
    "week01_tiny.ipynb",
]


def test_students_get_these_files_and_no_others(released: Workspace, week: Week) -> None:
    outbound = released.outbound(week)
    found = sorted(p.relative_to(outbound).as_posix() for p in outbound.rglob("*") if p.is_file())
    assert found == FILES


def test_assistants_are_told_which_exercises_they_must_not_solve(
    released: Workspace, week: Week
) -> None:
    text = (released.outbound(week) / "AGENTS.md").read_text(encoding="utf-8")
    assert all(f"`{exercise.name}`" in text for exercise in week.exercises)
    assert "autograder check --json" in text
    assert text.index("Students do not need this file") < text.index("\n## ")
    assert not is_wanted("AGENTS.md")  # of a submission


def test_the_notebook_went_through_nbgrader(released: Workspace, week: Week) -> None:
    notebook = json.loads((released.outbound(week) / f"{WEEK}.ipynb").read_bytes())
    grading = [c["metadata"]["nbgrader"] for c in notebook["cells"] if "nbgrader" in c["metadata"]]
    assert [g["grade_id"] for g in grading] == ["double", "halve", "why"]
    assert all(g["checksum"] for g in grading)


def test_a_question_still_asks_for_an_answer(released: Workspace, week: Week) -> None:
    text = (released.outbound(week) / f"{WEEK}.ipynb").read_text(encoding="utf-8")
    assert "*Your answer here.*" in text


def test_the_exchange_is_open_as_nbgrader_wants_it_and_sticky(released: Workspace) -> None:
    course = released.exchange / "tiny"
    modes = [released.exchange, course, course / "outbound", course / "inbound"]
    assert [stat.S_IMODE(p.stat().st_mode) for p in modes] == [0o1777, 0o755, 0o755, 0o3733]


def test_the_gradebook_knows_the_due_date_and_the_points(
    course: Course, released: Workspace, week: Week
) -> None:
    with open_gradebook(course) as gradebook:
        assignment = gradebook.find_assignment(week.name)
        assert assignment.duedate == dt.datetime(2020, 1, 13, 22, 59)  # UTC
        assert assignment.max_score == 6


def test_a_changed_lesson_is_released_again(
    course: Course, released: Workspace, week: Week
) -> None:
    lesson = course.exercise_folder(week) / "lesson.md"
    lesson.write_text(LESSON + "\nOne thing more.\n", encoding="utf-8")
    release(course, week)
    assert "One thing more." in (released.outbound(week) / f"{WEEK}.ipynb").read_text("utf-8")


def test_before_its_date_a_week_stays_here(course: Course, week: Week) -> None:
    before = dt.datetime(2020, 1, 6, 7, 59, tzinfo=dt.UTC)
    with pytest.raises(NbgraderError, match=r"06 January 2020, 09:00 .*or use --early"):
        release(course, week, now=before)


def test_early_releases_it_all_the_same(course: Course, week: Week, workspace: Workspace) -> None:
    release(course, week, early=True, now=dt.datetime(2019, 1, 1, tzinfo=dt.UTC))
    assert workspace.outbound(week).is_dir()


def test_a_stale_stub_is_not_released(course: Course, week: Week) -> None:
    stub = course.exercise_folder(week) / week.module
    stub.write_text("pass\n", encoding="utf-8")
    with pytest.raises(BuildError, match="run `autograder build`"):
        release(course, week)


def test_a_missing_figure_is_named_with_its_remedy(course: Course, week: Week) -> None:
    (course.figures(week) / "numbers.png").unlink()
    with pytest.raises(BuildError, match=r"numbers\.png is missing: .*build --figures"):
        release(course, week)


def test_the_instructors_own_settings_are_kept(
    course: Course, released: Workspace, week: Week
) -> None:
    config = released.root / CONFIG
    config.write_text(config.read_text("utf-8") + "c.Exchange.timezone = 'CET'\n", "utf-8")
    release(course, week)
    assert released.config().Exchange.timezone == "CET"
    assert released.config().CourseDirectory.course_id == "tiny"
