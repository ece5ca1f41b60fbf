"""Test the plan and a small version of the simulated course (`make simulate`)."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.model.course import load
from tests.simulation.plan import disguised, make_plan

HERE = Path(__file__).resolve().parent
MODULE = """
def f(x):
    double = x + x  # twice
    return double


def g(x):
    return f(x) + 1
"""


@pytest.fixture(scope="module")
def came_out(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, list[str]]]:
    out = tmp_path_factory.mktemp("simulation") / "out.json"
    options = ["--students", "4", "--weeks", "1", "--jobs", "1", "--json", str(out)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.simulation.run", *options],
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert out.is_file(), done.stdout + done.stderr
    found: dict[str, dict[str, list[str]]] = json.loads(out.read_text(encoding="utf-8"))
    return found


@pytest.mark.thorough
def test_every_claim_holds(came_out: dict[str, dict[str, list[str]]]) -> None:
    assert len(came_out["problems"]) > 10
    assert {name: where for name, where in came_out["problems"].items() if where} == {}


@pytest.mark.thorough
def test_nothing_odd_was_said(came_out: dict[str, list[str]]) -> None:
    assert came_out["said"] == []


def test_a_plan_has_all_that_a_course_has() -> None:
    course = load(HERE.parents[1])
    plan = make_plan(course, 60, seed=1)
    parts = list(plan.parts.values())
    assert len(parts) == 60 * len(course.weeks) - (len(course.weeks) - 4)
    assert any(p.days > 3 for p in parts)
    assert any(p.forgiven for p in parts)
    assert any(len(p.hand_ins) == 2 for p in parts)
    assert plan.extensions
    assert plan.copied[0] != plan.copied[1]


def test_one_seed_makes_one_plan() -> None:
    course = load(HERE.parents[1])
    assert make_plan(course, 5, seed=2).parts == make_plan(course, 5, seed=2).parts


def test_a_disguised_module_computes_the_same() -> None:
    copy = disguised(MODULE)
    space: dict[str, object] = {}
    exec(compile(copy, "copy", "exec"), space)
    assert space["g"](4) == 9  # type: ignore[operator]
    assert "double" not in copy
    assert [n.name for n in ast.parse(copy).body if isinstance(n, ast.FunctionDef)] == ["g", "f"]
