"""The kit knows nothing of attention: a course on numbers goes all the way with it.

From an empty folder: new, build, verify, release, submit, grade, feedback, with the installed kit
and real nbgrader. What students' installation makes of it is tried in tests/student/test_wheel.py.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import typer

from autograder.authoring.lesson.handout import WHEEL, fetch_cell, install_page
from autograder.cli import register
from autograder.cli.app import app
from autograder.model.course import Course, load
from autograder.model.course.bank import Bank
from autograder.nbgrader.collect.collector import collect
from autograder.nbgrader.demo import SampleStudent, submit
from autograder.nbgrader.workspace import Workspace
from tests.imports import modules, path_of
from tests.standings import standings

HERE = Path(__file__).parent
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)
_KIT = HERE.parents[1] / "autograder"
_PACKED = [p for p in sorted(_KIT.glob("**/templates/*")) if p.is_file() and p.suffix != ".woff2"]
PUPILS = (
    SampleStudent("ada", "everything right"),
    SampleStudent("grace", "in another style", style="least_squares"),
    SampleStudent("alan", "forces the line", wrong=("goes_through_the_origin",)),
)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory, commands: Callable[..., str]) -> Course:
    """Made by `new` in an empty folder, then written by its author."""
    root = tmp_path_factory.mktemp("second") / "numbers"
    root.mkdir()
    commands("new", "week01_lines", "--exercise", "predict", "--course", "Numbers", cwd=root)
    commands("new", "week02_sorting", "--exercise", "merge", cwd=root)
    for part in ("solutions", "exercises", "autograder"):
        shutil.rmtree(root / part)
        shutil.copytree(HERE / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(HERE / "course.yaml", root)
    commands("build", cwd=root)
    return load(root)


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Run a command of the kit; it must end well."""
    home = tmp_path_factory.mktemp("home")
    place = dict.fromkeys(("HOME", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR"), str(home))

    def run(*arguments: str, cwd: Path) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "autograder", *arguments],
            cwd=cwd,
            env=os.environ | place | {"NO_COLOR": "1", "COLUMNS": "100"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="module")
def graded(course: Course, commands: Callable[..., str]) -> Course:
    """Week 1, released, handed in by three students, graded, with feedback."""
    week, bank = course.weeks[0], Bank(course, course.weeks[0])
    commands("release", "week01", "--early", cwd=course.root)
    for pupil in PUPILS:
        submit(course, week, bank, pupil)
    collect(course, week, check_owner=False)  # one user plays them all
    commands("grade", "week01", cwd=course.root)
    commands("feedback", "week01", "--unmarked", cwd=course.root)
    return course


@pytest.mark.thorough
def test_the_whole_course_is_proven(course: Course, commands: Callable[..., str]) -> None:
    assert "0 gaps" in commands("verify", "--quick", cwd=course.root)


@pytest.mark.thorough
def test_right_work_gets_all_points(graded: Course) -> None:
    scores = {s.student: s.scores for s in standings(graded, graded.weeks[0])}
    assert [sum(scores[n][e] for e in ("predict", "fit_line")) for n in ("ada", "grace")] == [5, 5]


@pytest.mark.thorough
def test_the_misconception_is_named_to_the_student(graded: Course) -> None:
    page = Workspace(graded).feedback_page("alan", graded.weeks[0])
    assert "lets the line go through the origin" in page.read_text(encoding="utf-8").lower()


@pytest.mark.thorough
def test_nothing_of_attention_is_said_to_its_students(graded: Course) -> None:
    page = Workspace(graded).feedback_page("alan", graded.weeks[0])
    text = re.sub(r"<style.*?</style>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert not re.search(r"attention|softmax|mask|\bquery|head", re.sub("<[^>]*>", " ", text), re.I)


# Libraries, and a class of torch, that hidden tests of any course may hand to a submission.
_NOT_OURS = re.compile(
    r"such as \S+|transformers|tokenizers|MultiheadAttention|NodeTransformer|num_attention_heads"
)
_OURS = re.compile(r"softmax|causal|multihead|lsh_|lsh\b|transformer|capstone|attention_", re.I)


# What hidden tests may hand over, and the edits of code that calls torch by name.
_NAME_TORCH = ("autograder.worker.torch_support.builders", "autograder.repair.")


@pytest.mark.parametrize("module", [m for m in modules() if not m.startswith(_NAME_TORCH)])
def test_no_code_of_the_kit_speaks_of_attention(module: str) -> None:
    path = path_of(module)
    assert path is not None
    tree = ast.parse(path.read_text(encoding="utf-8"))
    said = {t for t in _texts(tree) if _OURS.search(_NOT_OURS.sub("", t))}
    assert said == set()


# Modules whose strings concern calls, tensors and switches of torch itself.
_CONCERN_TORCH = (
    *("autograder.worker.", "autograder.grading.", "autograder.repair.", "autograder.sandbox."),
    *("autograder.model.source.", "autograder.student.checks.runner"),
    "autograder.model.availability",  # the libraries and devices that a course may use
    "autograder.cli.instructor.overview",  # `doctor` lists the installed packages
    *("autograder.channels.", "autograder.batch.store"),  # pins of the grading machine
    *("autograder.authoring.scaffolding", "autograder.authoring.lesson.handout"),  # as the course
    "autograder.cli.author.weeks",  # the option --torch
)


@pytest.mark.parametrize("module", [m for m in modules() if not m.startswith(_CONCERN_TORCH)])
def test_no_message_mentions_torch_unless_the_course_does(module: str) -> None:
    path = path_of(module)
    assert path is not None
    tree = ast.parse(path.read_text(encoding="utf-8"))
    strings = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    documented = {
        ast.get_docstring(n, clean=False) for n in ast.walk(tree) if isinstance(n, _DOCUMENTED)
    }
    said = [s for s in strings if isinstance(s, str) and s not in documented and " " in s]
    assert [s for s in said if re.search(r"torch|attention from scratch", s, re.I)] == []


def test_no_help_text_speaks_of_this_course() -> None:
    register()
    group: Any = typer.main.get_command(app)
    texts = {name: command.help or "" for name, command in group.commands.items()}
    texts |= {
        f"{n} {p.name}": getattr(p, "help", "") or ""
        for n, c in group.commands.items()
        for p in c.params
    }
    texts[""] = group.help
    ours = r"softmax|torch|attention|mask|heads?\b"
    allowed = {"new torch", "status"}  # the library of a new week; "needs attention"
    assert {n for n, text in texts.items() if re.search(ours, text, re.I)} - allowed == set()


@pytest.mark.parametrize("path", _PACKED, ids=lambda p: p.name)
def test_no_template_speaks_of_this_course(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"softmax|multi-?head|\battention\b|transformer", text, re.I)


def test_the_install_page_follows_the_course(course: Course, tmp_path: Path) -> None:
    page = install_page(course)
    assert page.startswith(f"# Installation for {course.title}\n")
    assert f"python3 -m venv {course.id}" in page
    assert WHEEL in page
    assert "torch" not in page + fetch_cell(course, course.weeks[0])
    with_torch = msgspec.structs.replace(course.weeks[1], libraries=("torch",))
    registry = msgspec.structs.replace(course.registry, weeks=(course.weeks[0], with_torch))
    assert "pip install torch" in install_page(Course(course.root, registry))
    (tmp_path / "INSTALL.md").write_text("Ask Ada.", encoding="utf-8")
    assert install_page(Course(tmp_path, registry)) == "Ask Ada."


def _texts(tree: ast.Module) -> Iterator[str]:
    """Names and strings of a module, without its docstrings."""
    nodes = [n for n in ast.walk(tree) if isinstance(n, _DOCUMENTED) and ast.get_docstring(n)]
    docs = {id(n.body[0].value) for n in nodes}  # type: ignore[attr-defined]
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value
        elif isinstance(node, ast.Name | ast.Attribute | ast.FunctionDef | ast.ClassDef):
            yield getattr(node, "id", "") or getattr(node, "attr", "") or getattr(node, "name", "")
