"""Check that a wrong helper written for this purpose earns no points for an empty exercise.

A correct exercise that calls a wrong helper must still earn its points.

Each file of `lend/` is appended to the solution of week 1, or of the week in its header. The header
also names the wrong helper, the empty exercise and the maximum points of that exercise: its points
with a correct helper, or the points of tests that any constant helper passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.grading.dependencies.error_carried_forward import read_call_graph
from autograder.grading.engine import Engine
from autograder.model.course import load
from autograder.model.report.schema import ExerciseReport
from tests.weeks import two_of

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
_HEADER = re.compile(r"^Empty: (\w+)(?:\nWeek: (\d))?\nScore at most: ([\d.]+)$", re.M)


def header(path: Path) -> tuple[str, str, float]:
    """Return the empty exercise, its week, and the points it may earn."""
    found = _HEADER.search(path.read_text(encoding="utf-8"))
    assert found is not None, path
    return found[1], found[2] or "1", float(found[3])


LIES = sorted((HERE / "lend").glob("*.py"), key=lambda path: (header(path)[1], path))
# Slow files, and a faster file that tests the same rule: the helper returns a constant,
# stops, has no `forward`, or makes a forbidden call.
SLOW = {
    "answers_zeros_whatever_the_model_adds": "changes_nothing_where_no_block_is_called",
    "lacks_forward_and_is_asked_once": "lacks_forward_and_is_skipped",
    "merges_zeros_where_no_value_is_read": "lacks_forward_where_copies_are_mixed_up",
    "puts_all_into_one_bucket": "gives_an_order_that_sorts_nothing",
    "splits_by_a_call_that_attends": "does_the_work_itself",
    "stops_when_it_is_made": "stops_where_nothing_is_added",
    "stops_where_no_mask_is_used": "ignores_the_mask_that_nobody_hands_over",
    "stops_where_the_sort_is_not_undone": "stops_where_nothing_is_sorted",
}


class Engines:
    """Creates an engine for a week when it is needed, and stores only the last one."""

    def __init__(self) -> None:
        self._week = ""
        self._engine: Engine | None = None

    def of(self, week: str) -> Engine:
        if self._engine is None or week != self._week:
            self.close()
            course, secret = load(PROJECT), b"inputs of this test alone " * 2
            self._week = week
            self._engine = Engine(course, course.week(week), ("cpu",), secret, None)
        return self._engine

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()


@pytest.fixture(scope="module")
def engines() -> Iterator[Engines]:
    made = Engines()
    yield made
    made.close()


@pytest.fixture
def engine(engines: Engines) -> Engine:
    return engines.of("1")


def graded(engine: Engine, text: str) -> dict[str, ExerciseReport]:
    """Grade the solution with `text` appended to it and return the exercises of the report."""
    source = f"{engine.bank.solution}\n\n{text}"
    report = engine.grade("somebody", {engine.week.module: source.encode()})
    assert report.verdict == "graded", report.message
    return {e.name: e for e in report.exercises}


def wrong(engine: Engine, name: str) -> str:
    path = engine.bank.folder / "misconceptions" / f"{name}.py"
    return path.read_text(encoding="utf-8")


ATTENTION = "scaled_dot_product_attention"


def test_right_attention_keeps_its_points_given_wrong_gradients(engine: Engine) -> None:
    found = graded(engine, wrong(engine, "differentiates_entry_by_entry"))
    assert found[ATTENTION].score == found[ATTENTION].max_score


def test_it_is_said_whose_mistake_attention_carries(engine: Engine) -> None:
    found = graded(engine, wrong(engine, "differentiates_entry_by_entry"))
    assert found[ATTENTION].inherits == ("softmax",)


def test_a_mistake_two_calls_away_costs_nothing_either(engine: Engine) -> None:
    found = graded(engine, wrong(engine, "adds_a_little_to_the_denominator"))
    assert found["SelfAttention"].score == found["SelfAttention"].max_score


def test_wrong_attention_is_still_wrong_given_a_wrong_softmax(engine: Engine) -> None:
    text = wrong(engine, "differentiates_entry_by_entry") + wrong(engine, "mixes_the_keys")
    assert graded(engine, text)[ATTENTION].score < 2.0


QUICK = [path for path in LIES if path.stem not in SLOW][:1]
EACH_LIE = [
    pytest.param(path, id=path.stem, marks=() if path in QUICK else pytest.mark.thorough)
    for path in LIES
]


@pytest.mark.parametrize("path", EACH_LIE)
def test_an_empty_exercise_earns_nothing_by_a_helper_that(path: Path, engines: Engines) -> None:
    empty, week, most = header(path)
    found = graded(engines.of(week), path.read_text(encoding="utf-8"))
    assert found[empty].score <= most


def test_there_are_more_than_ten_lies() -> None:
    assert len(LIES) > 10


HOLLOW = ("0", "None", "args[0]", "args[0] * 0", "1 / 0")


@pytest.mark.parametrize("week", range(1, 10))
@pytest.mark.thorough
def test_nothing_is_inherited_from_helpers_that_hold_no_work(week: int, engines: Engines) -> None:
    engine = engines.of(str(week))
    names = tuple(e.name for e in engine.week.exercises)
    calls = read_call_graph(engine.bank.solution, names)
    helpers = sorted({h for name in names for h in calls.reached(name)})
    for number, helper in enumerate(helpers):
        for value in two_of(HOLLOW, number):  # all five take too long
            found = graded(engine, f"def {helper}(*args, **kwargs):\n    return {value}\n")
            assert not [e.name for e in found.values() if helper in e.inherits], (helper, value)


@pytest.mark.thorough
def test_a_lent_helper_does_not_spare_its_caller_what_it_keeps(engines: Engines) -> None:
    """Count memory that `tiled_attention` stores for its backward pass towards `FlashAttention`."""
    engine = engines.of("7")
    flash = """
class FlashAttention:
    @staticmethod
    def apply(q, k, v, block_size=64, causal=False):
        return tiled_attention(q, k, v, block_size, causal)[0]
"""
    alone = graded(engine, flash)["FlashAttention"]
    beside = graded(engine, wrong(engine, "logsumexp_left_in_float32") + flash)["FlashAttention"]
    assert (beside.score, beside.diagnosis) == (alone.score, alone.diagnosis)
    assert beside.score < beside.max_score
