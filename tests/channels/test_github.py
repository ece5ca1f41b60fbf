"""A week as a template repository, and Classroom 50's autograder, with real git and real checks."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from autograder.authoring.lesson.leak_check import check_files, secrets_of
from autograder.channels.github import export_template
from autograder.model.course import Course, load
from autograder.model.errors import KitError, LeakError
from tests.courses import copy_course

WEEK = "week01_softmax"
RUNNER = {
    "CLASSROOM": "ml-2027",
    "ASSIGNMENT": WEEK,
    "SUBMISSION_TAG": "submit/2027-01-18T20-00-00Z-a1b2c3d",
    "COMMIT_URL": "https://github.com/org/ml-2027-week01-ada/commit/a1b2c3d",
    "RELEASE_URL": "https://github.com/org/ml-2027-week01-ada/releases/tag/submit%2F1",
    "REVIEW_URL": "",
    "USERNAME": "ada",
}


def git(folder: Path, *arguments: str, **env: str) -> str:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    done = subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return load(copy_course(tmp_path_factory.mktemp("github") / "course", weeks=(WEEK,)))


@pytest.fixture(scope="module")
def exported(course: Course) -> Path:
    export_template(course, course.weeks[0], course.root / "out")
    return course.root / "out"


def test_the_template_is_one_commit_with_what_students_get(course: Course, exported: Path) -> None:
    template = exported / "template"
    assert git(template, "rev-list", "--count", "HEAD").strip() == "1"
    assert git(template, "status", "--porcelain") == ""
    names = git(template, "ls-files").splitlines()
    for name in ("softmax.py", "test_softmax.py", f"{WEEK}.ipynb", "hints.md", "README.md"):
        assert name in names
    stub = (course.exercise_folder(course.weeks[0]) / "softmax.py").read_bytes()
    assert (template / "softmax.py").read_bytes() == stub


def test_nothing_hidden_is_in_any_of_it_nor_in_its_history(course: Course, exported: Path) -> None:
    secrets = secrets_of(course, course.weeks[0])
    files = {
        p.relative_to(exported).as_posix(): p.read_bytes()
        for p in exported.rglob("*")
        if p.is_file() and ".git/" not in p.as_posix()
    }
    check_files(files, secrets, "github")
    said = git(exported / "template", "log", "--all", "--patch")
    check_files({"history": said.encode()}, secrets, "github")
    assert not [n for n in files if "/graders/" in n or "misconceptions" in n]


def test_a_secret_line_stops_it_before_anything_is_written(course: Course, tmp_path: Path) -> None:
    broken = load(shutil.copytree(course.root, tmp_path / "course", symlinks=True))
    week = broken.weeks[0]
    solution = broken.solution(week).read_text("utf-8")
    secret = re.search(r"BEGIN SOLUTION\n(.{30,}?)\n", solution, re.DOTALL)
    assert secret
    hints = broken.exercise_folder(week) / "hints.md"
    hints.write_text(hints.read_text("utf-8") + secret.group(1), "utf-8")
    with pytest.raises(LeakError):
        export_template(broken, week, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_workflow_runs_the_public_checks_and_may_only_read(exported: Path) -> None:
    found = yaml.safe_load((exported / "template" / ".github/workflows/checks.yml").read_text())
    assert found["permissions"] == {"contents": "read"}
    steps = found["jobs"]["checks"]["steps"]
    assert steps[-1]["run"] == "python -m pytest -q test_softmax.py"
    assert not (exported / "template" / ".github/workflows/autograde.yaml").exists()


def test_a_second_export_is_a_commit_only_if_something_changed(
    course: Course, tmp_path: Path
) -> None:
    mended = load(shutil.copytree(course.root, tmp_path / "course", symlinks=True))
    week, out = mended.weeks[0], tmp_path / "out"
    assert export_template(mended, week, out).changed
    assert not export_template(mended, week, out).changed
    readme = mended.exercise_folder(week) / "README.md"
    readme.write_text(readme.read_text("utf-8") + "\nMended.\n", "utf-8")
    assert export_template(mended, week, out).changed
    assert git(out / "template", "rev-list", "--count", "HEAD").strip() == "2"


def test_a_folder_that_is_not_ours_is_left_alone(course: Course, tmp_path: Path) -> None:
    (tmp_path / "template").mkdir()
    (tmp_path / "template" / "thesis.tex").write_text("mine")
    with pytest.raises(KitError, match="not a git repository"):
        export_template(course, course.weeks[0], tmp_path)
    assert (tmp_path / "template" / "thesis.tex").read_text() == "mine"


# Classroom 50: its runner's behaviour, and the documented contract of result.json


def run_autograder(exported: Path, checkout: Path) -> subprocess.CompletedProcess[str]:
    script = exported / "classroom50" / "autograders" / WEEK / "autograder.py"
    env = {**os.environ, **RUNNER, "OMP_NUM_THREADS": "1", "PIP_NO_INDEX": "1"}
    return subprocess.run(
        [sys.executable, str(script)], cwd=checkout, env=env, capture_output=True, text=True
    )


def result_of(exported: Path, checkout: Path) -> dict[str, object]:
    done = run_autograder(exported, checkout)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads((checkout / "result.json").read_text())
    return found


def conforms(result: dict[str, object]) -> None:
    assert result["schema"] == "classroom50/result/v1"
    for name in ("classroom", "assignment", "submission", "commit", "release", "review"):
        assert isinstance(result[name], str)
        assert result[name]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", str(result["datetime"]))
    tests = result["tests"]
    assert isinstance(tests, list)
    for test in tests:
        assert set(test) >= {"test-name", "passed", "score", "max-score"}
        assert type(test["score"]) is type(test["max-score"]) is int
        assert type(test["passed"]) is bool
    assert type(result["score"]) is int
    assert result["score"] == sum(t["score"] for t in tests)
    assert result["max-score"] == sum(t["max-score"] for t in tests)


@pytest.fixture
def checkout(exported: Path, tmp_path: Path) -> Path:
    """A student's repository, made from the template as GitHub makes it, with one more commit."""
    git(tmp_path, "clone", "--quiet", str(exported / "template"), "checkout")
    folder = tmp_path / "checkout"
    (folder / "notes.md").write_text("begun")
    git(folder, "add", "--all")
    when = "2027-01-18T19:58:00+00:00"
    git(folder, "commit", "-qm", "Begun", GIT_COMMITTER_DATE=when, GIT_AUTHOR_DATE=when)
    return folder


def test_result_json_keeps_the_contract_for_a_stub(exported: Path, checkout: Path) -> None:
    result = result_of(exported, checkout)
    conforms(result)
    assert result["score"] == 0
    assert result["datetime"] == "2027-01-18T19:58:00Z", "the submission's instant, not today"


@pytest.mark.thorough
def test_a_right_module_passes_every_public_check(
    course: Course, exported: Path, checkout: Path
) -> None:
    shutil.copy(course.solution(course.weeks[0]), checkout / "softmax.py")
    (checkout / "test_softmax.py").write_text("def test_mine():\n    pass\n")  # theirs do not count
    (checkout / "conftest.py").write_text("raise SystemExit('not collected')\n")
    result = result_of(exported, checkout)
    conforms(result)
    assert result["score"] == result["max-score"]
    assert len(result["tests"]) > 10  # type: ignore[arg-type]


@pytest.mark.thorough
def test_without_a_run_there_is_no_result_and_the_runner_hears_of_it(
    exported: Path, checkout: Path
) -> None:
    (checkout / "softmax.py").write_text("import os\nos._exit(0)\n")
    done = run_autograder(exported, checkout)
    assert done.returncode == 1
    assert not (checkout / "result.json").exists()
