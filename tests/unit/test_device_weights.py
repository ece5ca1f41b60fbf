"""Check that named and unnamed mistakes on a GPU cost the same, so that neither is preferable."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from autograder.model.course import Week, load
from autograder.model.course.bank import Bank

COURSE = load(Path(__file__).resolve().parents[2])
# Weeks in which no mistake on a GPU is named.
_USUAL = 0.15


@pytest.mark.parametrize("week", COURSE.weeks, ids=lambda week: week.name)
def test_failing_on_a_gpu_alone_costs_what_a_named_device_mistake_costs(week: Week) -> None:
    graders, costs = COURSE.graders(week), _named(week)
    for exercise in week.exercises:
        everywhere, on_a_gpu = _weights(graders / f"test_{exercise.name}.py")
        if on_a_gpu:
            share = on_a_gpu / (everywhere + on_a_gpu)
            cost = costs.get(exercise.name, _USUAL)
            assert 0.8 * cost <= share <= 1.25 * cost, f"{exercise.name}: {share:.3f}, not {cost}"


def _named(week: Week) -> dict[str, float]:
    """Return the costs of named mistakes on a GPU, by exercise."""
    return {
        m.exercise: m.cost
        for m in Bank(COURSE, week).misconceptions
        if m.cost and "test_device" in m.rejected_by
    }


def _weights(path: Path) -> tuple[float, float]:
    """Return the weight of an exercise's tests on the CPU, and on one other device."""
    here = elsewhere = 0.0
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
            continue
        axes = {a.arg for a in node.args.args}
        marks = {
            d.func.attr: d
            for d in node.decorator_list
            if isinstance(d, ast.Call) and isinstance(d.func, ast.Attribute)
        }
        weight, dtypes = marks.get("weight"), marks.get("dtypes")
        own = float(ast.literal_eval(weight.args[0])) if weight else 1.0
        others = {
            k.arg: float(ast.literal_eval(k.value)) for k in (weight.keywords if weight else ())
        }
        times = (len(dtypes.args) if dtypes else 4) if "dtype" in axes else 1
        here += times * own
        if "device" in axes:
            elsewhere += times * others.get("elsewhere", own)
    return here, elsewhere
