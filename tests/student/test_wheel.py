"""The wheel that students install: complete, and without secrets."""

from __future__ import annotations

import ast
import email
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder.authoring.lesson.leak_check import secrets_of
from autograder.model.course import Course, Week
from autograder.model.course.bank import Bank
from tests.imports import closure

ROOT = Path(__file__).resolve().parents[2]
PACKED = ("autograder", "pyproject.toml", "setup.py", "README.md", "constraints.txt", "LICENSE")
# packages that students do not have, so the wheel must not import them
ABSENT = ("nbgrader", "nbconvert", "psutil", "pyseccomp")
INSTRUCTORS = ("grade week01", "release week01", "collect week01", "feedback week01", "demo")
# entry points of students, in a terminal and a notebook
STARTED = (
    "autograder",
    "autograder.__main__",
    "autograder.cli.student_commands",
    "autograder.student.checks.runner",
    "autograder.student.checks.stages",
)
# imports all commands for instructors; the wheel does not contain it
CLOSED = frozenset({"autograder.cli.project_commands"})
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel like `make wheel`, without a network, from a copy."""
    copy = tmp_path_factory.mktemp("project")
    for name in PACKED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy(source, copy / name)
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "-w", "dist", "."]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options], cwd=copy, check=True)
    (built,) = (copy / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def packed(wheel: Path) -> dict[str, str]:
    with zipfile.ZipFile(wheel) as archive:
        return {n: archive.read(n).decode() for n in archive.namelist()}


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Install the wheel in a separate virtual environment that shares the libraries of this one."""
    place = tmp_path_factory.mktemp("student") / "venv"
    venv.create(place, with_pip=False)
    python = place / "bin" / "python"
    options = ["--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", *options], check=True
    )
    (site,) = place.glob("lib/python*/site-packages")
    (site / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    for name in ABSENT:
        said = f"raise ModuleNotFoundError('not installed', name={name!r})\n"
        (site / f"{name}.py").write_text(said, encoding="utf-8")

    def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        return subprocess.run(
            [place / "bin" / "autograder", *arguments],
            cwd=cwd,
            env=environment | {"NO_COLOR": "1", "COLUMNS": "80", "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


def written(course: Course) -> list[Week]:
    return [w for w in course.weeks if (course.exercise_folder(w) / w.module).is_file()]


def test_no_folder_of_the_instructor_is_packed(packed: dict[str, str]) -> None:
    folders = {part for name in packed for part in name.split("/")[:-1]}
    assert not folders & {"graders", "solutions", "exercises", "tests"}


def test_the_wheel_holds_what_students_commands_import_and_nothing_else(
    packed: dict[str, str],
) -> None:
    modules = {
        name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for name in packed
        if name.endswith(".py")
    }
    assert modules == closure(STARTED, CLOSED)


def test_every_packed_module_is_the_projects_own(packed: dict[str, str]) -> None:
    modules = [n for n in packed if not n.split("/")[0].endswith(".dist-info")]
    assert modules
    assert all((ROOT / n).is_file() for n in modules)


def test_no_secret_line_is_packed(packed: dict[str, str], course: Course) -> None:
    everything = "".join("".join(packed.values()).split())
    found = [
        f"{secret.origin}: {secret.text}"
        for week in written(course)
        for secret in secrets_of(course, week)
        if secret.text in everything
    ]
    assert found == []


def test_no_hidden_test_is_named(packed: dict[str, str], course: Course) -> None:
    everything = words("\n".join(packed.values()))
    public = {
        name
        for w in written(course)
        for name in names_of_tests(course.exercise_folder(w) / f"test_{w.stem}.py")
    }
    hidden = {
        name
        for w in written(course)
        for path in course.graders(w).glob("*.py")
        for name in names_of_tests(path)
    }
    assert hidden
    assert (hidden - public) & everything == set()


def test_no_misconception_is_named_or_told(packed: dict[str, str], course: Course) -> None:
    text = "\n".join(packed.values())
    everything, squeezed = words(text), " ".join(text.split())
    bank = [m for w in written(course) for m in Bank(course, w).misconceptions]
    assert bank
    assert {m.name for m in bank if "_" in m.name} & everything == set()
    told = [t for m in bank for t in (m.title, m.hint, m.believes, m.shows) if len(t) > 20]
    assert [t for t in told if t in squeezed] == []


def test_installing_it_asks_for_no_nbgrader(packed: dict[str, str]) -> None:
    (metadata,) = [text for name, text in packed.items() if name.endswith("/METADATA")]
    needed = email.message_from_string(metadata).get_all("Requires-Dist") or []
    plain = {re.split(r"[^\w-]", n)[0].lower() for n in needed if "extra ==" not in n}
    assert {"torch", "pytest", "typer"} <= plain
    assert not plain & {"nbgrader", "psutil", "pyseccomp"}


def test_a_released_folder_and_the_wheel_are_enough(
    installed: Run, week1: Path, course: Course
) -> None:
    shutil.copy(course.solution(course.week("week01")), week1 / "softmax.py")
    done = installed("check", cwd=week1)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert "All public checks pass" in done.stdout


def test_a_stub_is_open_not_broken(installed: Run, week1: Path) -> None:
    done = installed("check", "softmax", cwd=week1)
    assert (done.returncode, done.stderr) == (1, "")
    assert "not written yet" in done.stdout


@pytest.mark.parametrize("command", ["hint softmax", "progress", "reset --all", "--help"])
def test_the_other_commands_of_students_work(installed: Run, week1: Path, command: str) -> None:
    done = installed(*command.split(), cwd=week1)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", [*INSTRUCTORS, "build --check", "verify"])
def test_a_command_of_instructors_says_in_one_line_what_it_needs(
    installed: Run, week1: Path, command: str
) -> None:
    done = installed(*command.split(), cwd=week1)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "need the course's project folder" in done.stderr


def test_a_command_that_nobody_has_is_told_too(installed: Run, week1: Path) -> None:
    done = installed("chekc", cwd=week1)
    assert done.returncode == 2
    assert "there is no command 'chekc'; did you mean 'check'?" in done.stderr


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def names_of_tests(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.name
