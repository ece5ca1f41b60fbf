"""Test that the line of a mistake is found, and that no line of correct code is reported."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.feedback.score_breakdown import arithmetic
from autograder.feedback.view import location_sentence
from autograder.grading.localization.repair_search import Search
from autograder.grading.warmup import warm_engine
from autograder.model.course import Suspects, load
from autograder.model.report.findings import SHOWN
from autograder.model.report.schema import ExerciseReport, Suspect
from autograder.sandbox import choose

PROJECT = Path(__file__).resolve().parents[2]
WEEK = "week01_softmax"


class Finder:
    """Grades a rewritten softmax in the sandbox; lines count from its first line."""

    def __init__(self) -> None:
        course = load(PROJECT)
        self.week = course.week(WEEK)
        self.engine = warm_engine(course, self.week, ("cpu",), b"lines" * 7, choose())
        self.engine.locate_mistakes(Suspects(seconds=30.0, submission=30.0))

    def report(self, code: str, exercise: str = "softmax") -> ExerciseReport:
        before = f"{self.engine.bank.solution}\n"
        files = {self.week.module: f"{before}{code}".encode()}
        report = self.engine.grade("student", files, exercise)
        assert report.verdict == "graded", report.message
        assert report.exercises[0].score < report.exercises[0].max_score
        return report.exercises[0]

    def found(self, code: str) -> list[Suspect]:
        return list(self.report(code).suspects)

    def lines(self, code: str) -> set[int]:
        return {s.line - self.engine.bank.solution.count("\n") - 1 for s in self.found(code)}


@pytest.fixture(scope="module")
def finder() -> Iterator[Finder]:
    made = Finder()
    yield made
    made.engine.close()


WRONG_AXIS = """def softmax(x, dim=-1):
    top, _ = torch.max(x, dim=dim, keepdim=True)
    parts = torch.exp(x - top)
    return parts / parts.sum(-1, keepdim=True)
"""
UNKNOWN = """def softmax(x, dim=-1):
    top, _ = torch.max(x, dim=dim, keepdim=True)
    parts = torch.exp(x - top)
    return parts / parts.sum(1 - x.ndim, keepdim=True)
"""
NOT_MOVED_BACK = """def softmax(x, dim=-1):
    y = x.transpose(dim, -1)
    y = torch.exp(y - y.max(-1, keepdim=True)[0])
    return y / y.sum(-1, keepdim=True)
"""
NO_GRADIENT = """def softmax(x, dim=-1):
    with torch.no_grad():
        parts = (x - x.amax(dim, True)).exp()
        return parts / parts.sum(dim, True)
"""
IN_FLOAT32 = """def softmax(x, dim=-1):
    wide = x.float()
    parts = (wide - wide.amax(dim, True)).exp()
    return parts / parts.sum(dim, True)
"""
SCALED_BY_KEYS = """def scaled_dot_product_attention(q, k, v):
    scores = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-2])
    weights = softmax(scores, dim=-1)
    return weights @ v, weights
"""
NEVER_USED = """def softmax(x, dim=-1):
    parts = (x - x.amax()).double().exp()
    return (parts / parts.sum().sqrt()).log().tanh()
"""
SUM_FOR_A_CONSTANT = """def softmax(x, dim=-1):
    parts = torch.exp(x - x.amax(dim, keepdim=True).detach())
    return parts / parts.sum(dim, keepdim=True).detach()
"""
STOPS = """def softmax(x, dim=-1):
    return x.no_such_thing(dim)
"""
MANY_MISTAKES = """def softmax(x, dim=-1):
    x -= torch.amax(x, dim, True)
    parts = torch.exp(x)
    if x.ndim > 2:
        parts = parts.double() * x.abs() ** 3
    return parts / parts.sum(-1, True)
"""
NO_AXIS = """def softmax(x):
    parts = (x - x.amax(-1, True)).exp()
    return parts / parts.sum(-1, True)
"""
HALVES_STOP = """def softmax(x, dim=-1):
    wide = x.movedim(dim, -1)
    parts = (wide - wide.amax(-1, True)).exp()
    ones = torch.ones(parts.shape[-1], 1).to(torch.float64 if x.dtype == torch.float64 else None)
    return (parts / (parts @ ones)).movedim(-1, dim)
"""
HANGS_WHEN_CHANGED = """def softmax(x, dim=-1):
    steps = 3
    while steps > 0:
        steps = steps - 1
    parts = (x - x.amax(dim, True)).exp()
    return parts / parts.sum(-1, True)
"""


def test_the_line_of_a_wrong_axis(finder):
    assert finder.lines(WRONG_AXIS) == {4}


def test_the_kind_of_a_mistake_is_told_with_its_line(finder):
    assert [s.kind for s in finder.found(NO_GRADIENT)] == ["gradient"]


def test_a_mistake_that_the_bank_does_not_know_is_named_by_what_mends_it(finder):
    report = finder.report(UNKNOWN)
    assert report.diagnosis == ("line:axis",)
    failed = sum(t.verdict.failed for t in report.tests)
    assert [(d.explains, d.of) for d in report.explained] == [(failed, failed)]


def test_one_mistake_has_one_name_and_its_price_is_all_that_the_exercise_loses(finder):
    """Grade a scale that two misconceptions explain in part, and that one edit fixes."""
    report = finder.report(SCALED_BY_KEYS, "scaled_dot_product_attention")
    failed = sum(t.verdict.failed for t in report.tests)
    assert [(d.name, d.explains, d.of) for d in report.explained] == [
        ("line:scale", failed, failed)
    ]
    (deduction,) = report.deductions
    assert deduction.name == "line:scale"
    assert 0.1 <= deduction.points / report.max_score <= 0.4
    assert report.score == pytest.approx(report.max_score - deduction.points)
    assert len(arithmetic(report)) == 3


def test_an_argument_that_is_never_used_is_named(finder):
    (found,) = (d for d in finder.report(NEVER_USED).explained if d.name == "line:ignored argument")
    assert "`dim`" in found.title


def test_the_headline_is_the_test_that_rejects_the_named_misconception(finder):
    report = finder.report(SUM_FOR_A_CONSTANT)
    assert report.diagnosis == ("treats_the_sum_as_a_constant",)
    first = next(t.name for t in report.tests if t.verdict.failed)
    assert str(report.headline).startswith("test_softmax.py::test_gradients")
    assert report.headline != first


def test_where_values_tell_the_line_of_a_named_mistake_no_change_is_tried(finder, monkeypatch):
    monkeypatch.setattr(Search, "fixes", lambda self: pytest.fail("a change was tried"))
    report = finder.report(IN_FLOAT32)
    before = finder.engine.bank.solution.count("\n") + 1
    assert report.diagnosis == ("answers_in_float32",)
    assert {s.line - before for s in report.suspects} == {2}
    assert {s.kind for s in report.suspects} == {SHOWN}
    assert location_sentence(report.suspects).startswith("The mistake first shows on line ")


def test_a_mistake_is_not_taken_for_one_that_a_change_would_make_of_it(finder):
    report = finder.report(NOT_MOVED_BACK)
    assert "normalises_only_the_last_dim" not in report.diagnosis
    assert all(s.kind == "order of axes" and s.alone for s in report.suspects)
    assert report.suspects


def test_where_the_code_stops_is_known_without_a_search(finder):
    assert finder.lines(STOPS) == {2}


def test_a_signature_that_lacks_an_argument_is_reported(finder):
    assert 1 in finder.lines(NO_AXIS)


def test_of_many_mistakes_those_have_a_line_that_some_tests_show_alone(finder):
    report = finder.report(MANY_MISTAKES)
    before = finder.engine.bank.solution.count("\n") + 1
    failed = sum(t.verdict.failed for t in report.tests)
    assert {s.line - before for s in report.suspects} <= {2, 6}
    assert report.suspects
    assert all(0 < s.explains < failed and not s.alone for s in report.suspects)
    assert location_sentence(report.suspects).endswith(" of the failed checks.")


def test_the_line_at_which_every_failed_test_stops_is_reported(finder, monkeypatch):
    generate_edits = "autograder.grading.localization.localizer.generate_edits"
    monkeypatch.setattr(generate_edits, lambda *given: [])
    report = finder.report(HALVES_STOP)
    before = finder.engine.bank.solution.count("\n") + 1
    assert [(s.line - before, s.kind) for s in report.suspects] == [(5, "crashed")]


@pytest.mark.thorough
def test_a_version_that_hangs_does_not_end_the_search(finder):
    assert 6 in finder.lines(HANGS_WHEN_CHANGED)


def test_the_student_is_told_where_and_never_what_to_write(finder):
    said = location_sentence(finder.found(UNKNOWN))
    assert said.endswith("(along which axis?).")


def test_a_busy_machine_changes_no_points(finder, monkeypatch):
    """Points depend on whether an edit is found, so the search must not end sooner."""
    finder.engine.locate_mistakes(Suspects(seconds=0.4, submission=0.4))
    before = finder.report(WRONG_AXIS)
    real = time.thread_time
    monkeypatch.setattr(time, "thread_time", lambda: 3.0 * real())
    after = finder.report(WRONG_AXIS)
    finder.engine.locate_mistakes(Suspects(seconds=30.0, submission=30.0))
    assert (after.suspects, after.score, after.diagnosis) == (
        before.suspects,
        before.score,
        before.diagnosis,
    )
