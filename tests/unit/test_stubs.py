"""From solution to stub."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from autograder.model.course import load
from autograder.model.errors import BuildError
from autograder.model.stubs import make_stub, stale, stub_of

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
        ("x = 1\n", "there is no BEGIN SOLUTION"),
        (
            "def f():\n    # BEGIN SOLUTION\n    pass\n",
            "solution.py:2: BEGIN SOLUTION is never ended",
        ),
        ("def f():\n    pass\n    # END SOLUTION\n", "solution.py:3: END SOLUTION without BEGIN"),
        ("def f(:\n", "solution.py:1: "),
    ],
)
def test_a_solution_that_cannot_become_a_stub_says_where(source, message):
    with pytest.raises(BuildError, match=message):
        make_stub(source, "solution.py")


def test_every_stub_of_the_course_is_up_to_date(project: Path):
    assert stale(load(project)) == []


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


def test_build_check_fails_on_a_stale_stub(copy: Path, autograder):
    stub = copy / "exercises" / "week01_softmax" / "softmax.py"
    stub.write_text(stub.read_text() + "\n# drifted\n")
    done = autograder("build", "--check", cwd=copy)
    assert done.returncode == 1
    assert "exercises/week01_softmax/softmax.py is stale" in done.stdout
    assert autograder("build", cwd=copy).returncode == 0
    assert autograder("build", "--check", cwd=copy).returncode == 0
