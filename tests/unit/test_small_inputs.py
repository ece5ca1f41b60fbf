"""Test that the stored inputs of each week can be read and show the known misconceptions."""

from __future__ import annotations

import json

import pytest

from autograder.files import public_draw
from autograder.grading.assertions.call_comparison import IN_A_ROW
from autograder.grading.counterexample.small_inputs import FILE, read_inputs, write_inputs
from autograder.grading.engine import Engine
from autograder.model.course import Counterexamples, load
from tests.courses import PROJECT

COURSE = load(PROJECT)


@pytest.mark.parametrize("week", COURSE.weeks, ids=lambda week: week.name)
def test_each_exercise_has_inputs_that_can_be_read(week):
    found = read_inputs(COURSE.solution_folder(week))
    assert {e.name for e in week.exercises} <= found.keys()
    assert all(found[e.name] for e in week.exercises if not e.extra)


@pytest.mark.parametrize("week", COURSE.weeks, ids=lambda week: week.name)
def test_no_input_needs_a_helper_of_the_hidden_tests(week):
    found = read_inputs(COURSE.solution_folder(week))
    steps = [step for some in found.values() for calls in some for step in calls]
    released = {path.name for path in COURSE.public_modules(week)}
    assert {step.options.brought for step in steps} <= {"", IN_A_ROW, *released}


def test_inputs_are_read_as_they_were_written(tmp_path):
    before = read_inputs(COURSE.solution_folder(COURSE.week("week08_serving")))
    write_inputs(
        tmp_path, {n: {str(i): c for i, c in enumerate(some)} for n, some in before.items()}
    )
    again = read_inputs(tmp_path)
    assert {n: list(map(repr, some)) for n, some in again.items()} == {
        n: list(map(repr, some)) for n, some in before.items()
    }


def test_new_inputs_are_added_to_those_that_students_can_make(tmp_path):
    before = read_inputs(COURSE.solution_folder(COURSE.week("week08_serving")))
    (first, *_), (other, *_) = before["KVCache"], before["cache_bytes"]
    write_inputs(tmp_path, {"KVCache": {"first": first}, "cache_bytes": {}})
    write_inputs(tmp_path, {"KVCache": {}, "cache_bytes": {"other": other}})
    assert {name: len(some) for name, some in read_inputs(tmp_path).items()} == {
        "KVCache": 1,
        "cache_bytes": 1,
    }


@pytest.mark.parametrize(
    "content", ["", "[]", '{"softmax": [{"call": "", "steps": [[0, "AA", null]]}]}']
)
def test_a_damaged_file_is_ignored(tmp_path, content):
    (tmp_path / FILE).write_text(content)
    assert read_inputs(tmp_path) == {}


def test_a_known_misconception_needs_no_search():
    week = COURSE.week("week01_softmax")
    engine = Engine(COURSE, week, ("cpu",), public_draw(0), None)
    search = engine.counterexamples(Counterexamples())
    stored = json.loads((COURSE.solution_folder(week) / FILE).read_text(encoding="utf-8"))
    calls = {one["call"] for one in stored["logsumexp"]}
    try:
        for one in engine.bank.of_exercise("logsumexp"):
            found = search.find(engine.runs.files(one.source), "logsumexp")
            if found is not None:
                assert found.example.call in calls, one.name
                assert found.example.expected != found.example.actual
    finally:
        search.close()
        engine.close()


TWO_MISTAKES = """
def logsumexp(x, dim=-1, keepdim=False):
    top = x.amax(dim, keepdim=True)
    return ((x - top).exp().sum(dim, keepdim=True).log() + top).squeeze(dim)
"""


def test_the_example_shows_the_mistake_that_is_named():
    week = COURSE.week("week01_softmax")
    engine = Engine(COURSE, week, ("cpu",), public_draw(0), None)
    search = engine.counterexamples(Counterexamples())
    files = {week.module: f"{engine.bank.solution}{TWO_MISTAKES}".encode()}
    try:
        axis = search.find(files, "logsumexp", named="ignores_keepdim")
        empty = search.find(files, "logsumexp", named="answers_nan_for_a_row_of_minus_infinity")
        by_kind = search.find(files, "logsumexp", kinds=("shape",))
    finally:
        search.close()
        engine.close()
    assert axis is not None
    assert "keepdim=True" in axis.example.call
    assert empty is not None
    assert (empty.example.expected, empty.example.actual) == ("-inf", "nan")
    assert by_kind is not None
    assert by_kind.example.kind == "shape"
