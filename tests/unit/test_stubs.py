"""Test creating stubs from the solution."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import pytest

from autograder.model.course import load
from autograder.model.course.stubs import is_stale, make_stub, stub_of, with_announcement
from autograder.model.errors import BuildError

TINY = Path(__file__).resolve().parents[1] / "golden" / "course"
SOLUTION = '''\
"""Module docstring."""

import math

# BEGIN SOLUTION
import secret_helper
# END SOLUTION


def double(x):
    """Twice x."""
    # TODO: add x to itself.
    # BEGIN SOLUTION
    return x + x
    # END SOLUTION


class Box:
    def __init__(self, size):
        self.size = size
        # BEGIN SOLUTION
        self.area = size * size
        # END SOLUTION
'''


def test_the_stub_keeps_signature_docstring_and_todo_and_raises():
    stub = make_stub(SOLUTION, "solution.py")
    assert '"""Twice x."""' in stub
    assert "# TODO: add x to itself." in stub
    assert 'raise NotImplementedError("double")' in stub
    assert 'raise NotImplementedError("Box.__init__")' in stub
    assert "self.size = size" in stub


def test_nothing_between_the_markers_is_left():
    stub = make_stub(SOLUTION, "solution.py")
    for secret in ("x + x", "secret_helper", "size * size", "SOLUTION"):
        assert secret not in stub


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\n", "no line `# BEGIN SOLUTION`"),
        (
            "def f():\n    # BEGIN SOLUTION\n    pass\n",
            "solution.py:2: BEGIN SOLUTION without END SOLUTION",
        ),
        ("def f():\n    pass\n    # END SOLUTION\n", "solution.py:3: END SOLUTION without BEGIN"),
        ("def f(:\n", "solution.py:1: "),
    ],
)
def test_a_solution_that_cannot_become_a_stub_says_where(source, message):
    with pytest.raises(BuildError, match=message):
        make_stub(source, "solution.py")


def test_every_stub_of_the_course_is_up_to_date(project: Path):
    course = load(project)
    assert [week.name for week in course.weeks if is_stale(course, week)] == []


def test_every_stub_of_the_course_is_python_that_imports_nothing_of_the_kit(project: Path):
    course = load(project)
    for week in course.weeks:
        imported = {
            name.split(".")[0]
            for node in ast.walk(ast.parse(stub_of(course, week)))
            for name in (
                [a.name for a in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
        }
        assert "autograder" not in imported


def test_what_is_not_allowed_stands_in_the_module_docstring_of_every_stub(project: Path):
    course, lacking = load(project), []
    for week in course.weeks:
        said = ast.get_docstring(ast.parse(stub_of(course, week))) or ""
        named = [p for e in week.exercises for p in (*e.not_allowed, *e.source_not_allowed)]
        lacking += [p for p in (*week.not_allowed, *named) if f"`{p}`" not in said]
    assert lacking == []


def test_a_week_that_forbids_nothing_announces_nothing(project: Path):
    course = load(project)
    assert "Not allowed" not in stub_of(course, course.week("week05"))


@pytest.mark.parametrize(
    "head", ['"""One line."""', '"""Two\nlines.\n"""', "", "'one line'", "# top\n'''Doc.'''"]
)
def test_the_announcement_changes_no_code(head):
    stub = f"{head}\nimport math\n\nx = 1\n"
    announced = with_announcement(stub, "Not allowed: `a*`.\n\nAnd more.")
    assert "Not allowed: `a*`." in announced
    assert announced.endswith("import math\n\nx = 1\n")
    assert [ast.dump(n) for n in ast.parse(announced).body if not isinstance(n, ast.Expr)] == [
        ast.dump(n) for n in ast.parse(stub).body if not isinstance(n, ast.Expr)
    ]


def test_build_check_fails_on_a_stale_stub(tmp_path: Path, autograder):
    copy = Path(shutil.copytree(TINY, tmp_path / "tiny"))
    stub = copy / "exercises" / "week01_tiny" / "tiny.py"
    stub.write_text(stub.read_text() + "\n# drifted\n")
    done = autograder("build", "--check", cwd=copy)
    assert done.returncode == 1
    assert "exercises/week01_tiny/tiny.py is stale" in done.stdout
    assert autograder("build", cwd=copy).returncode == 0
    assert autograder("build", "--check", cwd=copy).returncode == 0
