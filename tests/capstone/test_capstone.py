"""`check capstone`: weeks 2 to 5 as one model, with the solutions and with common mistakes."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.authoring.lesson.handout import week_files
from autograder.authoring.lesson.leak_check import check_files, secrets_of
from autograder.model.course import Course, load
from autograder.model.course.bank import Bank

ROOT = Path(__file__).resolve().parents[2]
WEEKS = ("week02_masking", "week03_multihead", "week04_lsh", "week05_transformer")
pytestmark = pytest.mark.skipif(
    not all((ROOT / "solutions" / week).is_dir() for week in WEEKS), reason="a week is not written"
)
Check = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def course() -> Course:
    return load(ROOT)


@pytest.fixture
def solved(course: Course, tmp_path: Path) -> Path:
    """Return the solved capstone folder next to the weeks."""
    shutil.copytree(ROOT / "exercises" / "capstone", tmp_path / "capstone")
    for name in WEEKS:
        (tmp_path / name).mkdir()
        shutil.copy(course.solution(course.week(name)), tmp_path / name)
    return tmp_path / "capstone"


@pytest.fixture
def check(in_process: Check) -> Callable[[Path], tuple[int, str]]:
    def check(folder: Path) -> tuple[int, str]:
        done = in_process("check", "capstone", cwd=folder)
        assert done.stderr == "" or done.returncode == 2, done.stderr
        return done.returncode, done.stdout + done.stderr

    return check


def failed(said: str) -> tuple[str, str]:
    """The stage that failed, and why."""
    lines = said.split("\n")
    (at,) = [n for n, line in enumerate(lines) if line.startswith("  ✗ ")]
    return lines[at].removeprefix("  ✗ "), lines[at + 1].strip()


def mistaken(course: Course, folder: Path, week: str, name: str) -> None:
    bank = Bank(course, course.week(week))
    (found,) = [m for m in bank.misconceptions if m.name == name]
    (folder.parent / week / course.week(week).module).write_text(found.source, encoding="utf-8")


@pytest.mark.thorough
def test_the_solutions_pass_every_stage(solved: Path, check: Callable[..., tuple[int, str]]):
    code, said = check(solved)
    assert code == 0, said
    assert said.count("  ✓ ") == 7


@pytest.fixture
def served(course: Course, solved: Path) -> Path:
    """Return the solved folder with week 8 next to the others."""
    (solved.parent / "week08_serving").mkdir()
    shutil.copy(course.solution(course.week("week08")), solved.parent / "week08_serving")
    return solved


@pytest.mark.thorough
def test_with_week_8_the_same_model_is_served(served: Path, check: Callable[..., tuple[int, str]]):
    code, said = check(served)
    assert code == 0, said
    assert "✓ token by token, with week 8's caches, it generates the same" in said


@pytest.mark.thorough
def test_a_mistake_of_week_8_is_found_by_serving(
    course: Course, served: Path, check: Callable[..., tuple[int, str]]
):
    mistaken(course, served, "week08_serving", "counts_queries_from_zero")
    code, said = check(served)
    assert code == 1
    assert failed(said)[1].startswith("Token by token it generates a different text")


def test_a_missing_week_is_named(solved: Path, check: Callable[..., tuple[int, str]]):
    shutil.rmtree(solved.parent / "week03_multihead")
    code, said = check(solved)
    assert code == 1
    assert failed(said)[1].startswith("Week 3 is missing: put multihead.py here")


def test_an_unwritten_week_is_named(
    course: Course, solved: Path, check: Callable[..., tuple[int, str]]
):
    week = course.week("week05")
    stub = course.exercise_folder(week) / week.module
    if not stub.is_file():
        pytest.skip("week 5 is not released yet")
    shutil.copy(stub, solved.parent / week.name)
    code, said = check(solved)
    assert code == 1
    assert failed(said)[1].endswith("(transformer.py, week 5) is not written yet.")


@pytest.mark.parametrize(
    ("week", "name", "stage"),
    [
        ("week02_masking", "keeps_the_future", "week 2's causal mask"),
        ("week03_multihead", "sees_one_token_ahead", "week 2's causal mask"),
        ("week03_multihead", "splits_causal_heads_by_view", "computes the same"),
    ],
)
def test_a_mistake_is_found_at_its_stage(
    course: Course,
    solved: Path,
    check: Callable[..., tuple[int, str]],
    week: str,
    name: str,
    stage: str,
):
    mistaken(course, solved, week, name)
    code, said = check(solved)
    assert code == 1
    assert stage in failed(said)[0]
    assert f"week {week[5]}" in failed(said)[1]


def test_a_file_that_python_cannot_read_is_one_line(
    solved: Path, check: Callable[..., tuple[int, str]]
):
    (solved.parent / "week02_masking" / "masking.py").write_text("def f(:\n", encoding="utf-8")
    code, said = check(solved)
    assert code == 1
    assert failed(said)[1].startswith("SyntaxError: ")


def test_without_the_folder_it_says_where_to_go(
    tmp_path: Path, check: Callable[..., tuple[int, str]]
):
    code, said = check(tmp_path)
    assert code == 2
    assert "`cd` into a week's folder" in said


@pytest.mark.parametrize("inside", [pytest.param(".", marks=pytest.mark.thorough), "capstone"])
def test_it_comes_with_week_5_and_runs_where_it_lies(
    course: Course, tmp_path: Path, check: Callable[..., tuple[int, str]], inside: str
):
    """A student with only released folders finds everything."""
    for name in WEEKS:
        (tmp_path / name).mkdir()
        shutil.copy(course.solution(course.week(name)), tmp_path / name)
    released = {
        name: content
        for name, content in week_files(course, course.week("week05")).items()
        if name.startswith("capstone/")
    }
    assert sorted(released) == [f"capstone/{n}" for n in ("README.md", "capstone.py", "stages.py")]
    for name, content in released.items():
        path = tmp_path / "week05_transformer" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    code, said = check(tmp_path / "week05_transformer" / inside)
    assert code == 0, said
    assert said.count("  ✓ ") == 7


def test_the_given_script_holds_nothing_secret(course: Course):
    files = {
        p.name: p.read_bytes() for p in (ROOT / "exercises" / "capstone").iterdir() if p.is_file()
    }
    for week in WEEKS:
        check_files(files, secrets_of(course, course.week(week)), "exercises/capstone")
