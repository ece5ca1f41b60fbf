"""The wheels of students and instructors: complete, and without secrets."""

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

from autograder.authoring.lesson.handout import WHEEL
from autograder.authoring.lesson.leak_check import secrets_of
from autograder.model.course import Course, Week
from autograder.model.course.bank import Bank
from tests.imports import closure
from tests.wheels import build_wheels

ROOT = Path(__file__).resolve().parents[2]
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
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build_wheels(tmp_path_factory.mktemp("project") / "kit")


@pytest.fixture(scope="module")
def wheel(wheels: tuple[Path, Path]) -> Path:
    return wheels[0]


@pytest.fixture(scope="module")
def packed(wheel: Path) -> dict[str, str]:
    return contents(wheel)


@pytest.fixture(scope="module", params=["students", "instructors"])
def either(request: pytest.FixtureRequest, wheels: tuple[Path, Path]) -> dict[str, str]:
    """The text files of each wheel."""
    return contents(wheels[request.param == "instructors"])


def contents(wheel: Path) -> dict[str, str]:
    with zipfile.ZipFile(wheel) as archive:
        names = (n for n in archive.namelist() if not n.endswith(".whl"))
        return {n: archive.read(n).decode("utf-8", "replace") for n in names}


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

    def run(
        *arguments: str, cwd: Path, program: str = "autograder"
    ) -> subprocess.CompletedProcess[str]:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        return subprocess.run(
            [place / "bin" / program, *arguments],
            cwd=cwd,
            env=environment | {"NO_COLOR": "1", "COLUMNS": "80", "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    run.place = place  # type: ignore[attr-defined]
    return run


def written(course: Course) -> list[Week]:
    return [w for w in course.weeks if (course.exercise_folder(w) / w.module).is_file()]


def test_no_folder_of_a_course_is_packed(either: dict[str, str]) -> None:
    folders = {part for name in either for part in name.split("/")[:-1]}
    assert not folders & {"graders", "solutions", "exercises", "assets", "tests"}


def test_the_students_wheel_is_small(wheel: Path, packed: dict[str, str]) -> None:
    assert wheel.stat().st_size <= 230_000
    assert sum(name.endswith(".py") for name in packed) <= 90


def test_the_instructors_wheel_has_every_module_and_template(wheels: tuple[Path, Path]) -> None:
    kit, ignored = ROOT / "autograder", ("__pycache__", "graders")
    files = (p for p in kit.rglob("*") if p.is_file() and p.name != ".gitignore")
    names = {str(p.relative_to(ROOT)) for p in files if not {*ignored} & {*p.parts}}
    assert names - {*contents(wheels[1])} == set()


def test_the_instructors_wheel_brings_the_students_wheel(wheels: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(wheels[1]) as archive:
        (inside,) = (n for n in archive.namelist() if n.endswith(f"/{WHEEL}"))
        assert archive.read(inside) == wheels[0].read_bytes()
    assert inside.startswith("autograder/authoring/lesson/")


def test_both_wheels_have_two_names_for_the_command(either: dict[str, str]) -> None:
    (entries,) = [text for name, text in either.items() if name.endswith("/entry_points.txt")]
    assert "autograder = autograder.cli:main\ngradewright = autograder.cli:main" in entries


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


def test_no_line_of_a_solution_is_in_the_instructors_wheel(
    wheels: tuple[Path, Path], course: Course
) -> None:
    everything = "".join("".join(contents(wheels[1]).values()).split())
    found = [
        secret.origin
        for week in written(course)
        for secret in secrets_of(course, week)
        if secret.origin.startswith(f"solutions/{week.name}/{week.module}")
        and secret.text in everything
    ]
    assert found == []


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


def test_installing_it_asks_for_neither_nbgrader_nor_torch(packed: dict[str, str]) -> None:
    (metadata,) = [text for name, text in packed.items() if name.endswith("/METADATA")]
    needed = email.message_from_string(metadata).get_all("Requires-Dist") or []
    plain = {re.split(r"[^\w-]", n)[0].lower() for n in needed if "extra ==" not in n}
    assert {"numpy", "pytest", "typer"} <= plain
    assert not plain & {"nbgrader", "psutil", "pyseccomp", "torch"}


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
    assert "are in the instructor's wheel, `gradewright`" in done.stderr


def test_the_other_programs_modules_in_the_package_are_reported(
    installed: Run, week1: Path
) -> None:
    where = installed("--version", cwd=week1, program="gradewright").stdout
    assert where.startswith("autograder ")
    (site,) = (installed.place / "lib").glob("python*/site-packages/autograder")  # type: ignore[attr-defined]
    foreign = site / "autograder.py"  # PyPI's `autograder` has this module
    foreign.touch()
    try:
        done = installed("check", cwd=week1, program="gradewright")
    finally:
        foreign.unlink()
    assert done.returncode == 2
    assert done.stderr.startswith("autograder: PyPI's `autograder`, a different program,")
    assert "pip uninstall autograder" in done.stderr


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
