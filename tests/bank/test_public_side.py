"""Test that `verify` checks the public files of a week and `release` refuses a week with gaps."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.authoring.scaffolding import new_week
from autograder.authoring.verify.public_files import verify_lesson, verify_public
from autograder.model.course import Course, load
from autograder.model.course.stubs import write_stub

TINY = Path(__file__).resolve().parents[1] / "golden" / "course"
WEEK = "week02_spread"
CHECK = "def test_spread_by_hand():"


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Return a course whose second week is a filled-in template of `autograder new`."""
    root = Path(shutil.copytree(TINY, tmp_path / "c", ignore=shutil.ignore_patterns("__pyc*")))
    new_week(load(root), WEEK)
    for path in [*root.rglob(f"{WEEK}/**/*.py"), *root.rglob(f"{WEEK}/*.md"), root / "course.yaml"]:
        path.write_text(path.read_text("utf-8").replace("FILL IN", "Said"), encoding="utf-8")
    course = load(root)
    for week in course.weeks:
        write_stub(course, week)
    return course


@pytest.fixture
def gaps(course: Course) -> Callable[..., list[str]]:
    """Return the gaps of the public files after a file was changed; there are none before."""

    def found(name: str, before: str, after: str) -> list[str]:
        path = next(course.root.rglob(f"{WEEK}/{name}"))
        text = path.read_text("utf-8")
        assert before in text
        path.write_text(text.replace(before, after), encoding="utf-8")
        return verify_public(course, course.week(WEEK)).gaps

    return found


def test_a_new_week_has_no_public_gap(course):
    assert verify_public(course, course.week(WEEK)).gaps == []


def test_a_public_check_that_the_solution_fails(gaps):
    found = gaps("test_spread.py", "[0.0, 0.0]], (", "[0.0, 1.0]], (")
    claim = "the rows 1, 7 and 5, 5 should give -3, 3 and 0, 0"
    fails = f"fails the public check test_spread_by_hand: {claim}"
    # the alternatives fail it as well and are not reported: the check is wrong
    assert [g.partition(", not")[0] for g in found] == [f"the solution {fails}"]


def test_points_in_the_readme_that_differ_from_the_course(course):
    readme = course.root / "exercises" / WEEK / "README.md"
    text = readme.read_text("utf-8") + "\n| exercise | points |\n| --- | --- |\n| `spread` | 7 |\n"
    readme.write_text(text, encoding="utf-8")
    gaps = verify_public(course, course.week(WEEK)).gaps
    line = len(text.split("\n")) - 1
    points = f"{course.week(WEEK).exercises[0].points:g}"
    said = f"exercises/{WEEK}/README.md:{line}: spread has 7 points, but {points} in course.yaml"
    assert gaps == [said]


def test_an_exercise_without_a_public_check(gaps):
    first, second = gaps("test_spread.py", CHECK, "def test_it():")
    assert first == "test_spread.py: the name of test_it contains no exercise"
    assert second == "spread has no public check: write test_spread_..."


def test_a_public_check_that_passes_on_the_stub(gaps):
    more = "def test_spread_is_there():\n    from spread import spread\n\n\n" + CHECK
    assert gaps("test_spread.py", CHECK, more) == [
        "the stub passes the public check test_spread_is_there"
    ]


def test_checks_that_cannot_be_read(gaps):
    (gap,) = gaps("test_spread.py", "import torch\n", "import torch_ch\n")
    assert "No module named 'torch_ch'" in gap


def test_hints_and_a_cell_for_each_exercise(course, gaps):
    lesson = course.root / "exercises" / WEEK / "lesson.md"
    lesson.write_text(lesson.read_text("utf-8").replace('check("spread")', "1 + 1"), "utf-8")
    found = gaps("hints.md", "## spread", "## spread_it")
    for gap in (
        "spread has no hint in hints.md",
        "hints.md has hints for spread_it",
        "the exercise 'spread' is missing",
    ):
        assert any(gap in said for said in found)


def test_a_single_exercise_needs_its_hint(course):
    folder = course.root / "exercises" / WEEK
    (folder / "test_spread.py").unlink()  # no program needs to run without it
    (folder / "hints.md").write_text("# Hints\n", encoding="utf-8")
    hint, _ = verify_public(course, course.week(WEEK), "spread").gaps
    assert hint == "spread has no hint in hints.md"


@pytest.mark.parametrize("names", [["README.md", "hints.md"], ["test_spread.py"]])
def test_files_that_are_missing(course, names):
    for name in names:
        (course.root / "exercises" / WEEK / name).unlink()
    found = sorted(verify_public(course, course.week(WEEK)).gaps)
    assert len(found) == len(names)
    for gap, name in zip(found, names, strict=True):
        assert gap.startswith(f"exercises/{WEEK}/{name} is missing")


def test_a_lesson_runs_with_the_solution(course):
    assert verify_lesson(course, course.week(WEEK)).gaps == []


def test_a_lesson_with_an_error_or_a_failing_check(course):
    folder = course.root / "exercises" / WEEK
    lesson = folder / "lesson.md"
    lesson.write_text(
        lesson.read_text("utf-8").replace("## Said", "```python\n1 / 0\n```\n\n## Said")
    )
    checks = folder / "test_spread.py"
    checks.write_text(checks.read_text("utf-8").replace("[0.0, 0.0]], (", "[0.0, 1.0]], ("))
    first, second = verify_lesson(course, course.week(WEEK)).gaps
    assert re.match(
        r"the lesson: code cell \d+, 1 / 0: ZeroDivisionError: division by zero$", first
    )
    assert re.match(r'the lesson: code cell \d+, check\("spread"\): NotPassed', second)


@pytest.mark.thorough
def test_release_refuses_a_week_with_gaps(course, autograder):
    (course.root / "exercises" / WEEK / "hints.md").write_text("", encoding="utf-8")
    refused = autograder("release", WEEK, "--early", cwd=course.root)
    assert refused.returncode == 2
    assert "GAP  spread has no hint in hints.md" in refused.stdout
    assert "is not proven" in refused.stderr
    assert not (course.root / "nbgrader").exists()
    done = autograder("release", WEEK, "--early", "--unproven", cwd=course.root)
    assert done.returncode == 0, done.stderr
