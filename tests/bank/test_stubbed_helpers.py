"""Test that an exercise that calls no other exercise passes with stubs for all others."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from autograder.grading.dependencies.error_carried_forward import read_call_graph
from autograder.grading.engine import Engine
from autograder.grading.warmup import warm_engine
from autograder.model.course import load
from autograder.model.report.schema import Verdict
from tests.courses import PROJECT

COURSE = load(PROJECT)


@pytest.fixture(params=COURSE.weeks, ids=lambda week: week.name)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    made = warm_engine(COURSE, request.param, ("cpu",), b"any secret will do", None)
    yield made
    made.close()


def definitions(source: str) -> dict[str, str]:
    """Return the source of each function and class of a module."""
    lines = source.split("\n")
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            found[node.name] = "\n".join(lines[first - 1 : node.end_lineno])
    return found


@pytest.mark.thorough
def test_it_needs_no_other_exercise(engine: Engine) -> None:
    week, names = engine.week, [e.name for e in engine.week.exercises]
    stub = definitions((PROJECT / "exercises" / week.name / week.module).read_text())
    solution = engine.bank.solution
    calls = read_call_graph(solution, names)
    for name in names:
        if calls.reached(name):
            continue
        source = "\n\n\n".join([solution, *(stub[n] for n in names if n != name)])
        (report,) = engine.grade("alone", {week.module: source.encode()}, name).exercises
        ended = {t.name: t.verdict for t in report.tests if t.verdict.failed}
        assert Verdict.UNWRITTEN not in ended.values(), f"{name}: {ended}"
        assert report.score == report.max_score, f"{name}: {ended}"
