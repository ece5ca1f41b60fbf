"""Test that mistakes are named in programs of real students.

The programs differ in style from the bank and contain several mistakes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.grading.warmup import warm_engine
from autograder.model.course import load
from autograder.model.report.schema import Diagnosis

PROJECT = Path(__file__).resolve().parents[2]


class Namer:
    """Grades one rewritten function of a week's solution in this process."""

    def __init__(self, week: str) -> None:
        course = load(PROJECT)
        self.week = course.week(week)
        secret = b"the names do not depend on it: verify proves them with others"
        self.engine = warm_engine(course, self.week, ("cpu", "fake-gpu"), secret, None)

    def named(self, code: str) -> list[Diagnosis]:
        exercise = next(x.name for x in ast.parse(code).body if isinstance(x, ast.FunctionDef))
        files = {self.week.module: f"{self.engine.bank.solution}\n\n{code}".encode()}
        report = self.engine.grade("student", files, exercise)
        assert report.verdict == "graded", report.message
        return list(report.exercises[0].explained)


@pytest.fixture(scope="module")
def namer() -> Iterator[Namer]:
    made = Namer("week01_softmax")
    yield made
    made.engine.close()


def names(found: list[Diagnosis]) -> list[str]:
    return [d.name for d in found]


FLOAT64_OF_FLOAT32 = """
def scaled_dot_product_attention_numpy(q, k, v):
    scores = np.einsum("...nd,...md->...nm", q, k) / np.sqrt(k.shape[-1])
    weights = softmax_numpy(scores)
    return np.einsum("...nm,...mv->...nv", weights, v), weights
"""
BESIDE_ANOTHER = """
def logsumexp(x, dim=-1, keepdim=False):
    top = x.amax(dim, keepdim=True)
    top = top.masked_fill(top == -torch.inf, 0.0)
    out = (x - top).exp().sum(dim, keepdim=True).log() + top
    if keepdim:
        return out
    return out.squeeze() if 1 in x.shape else out.squeeze(dim) + 1
"""
TWO_FLAWS = """
def logsumexp(x, dim=-1, keepdim=False):
    m = x.max(dim=dim)[0]
    return m + (x - m.unsqueeze(dim)).exp().sum(dim=dim).log()
"""
MASKED_BY_ANOTHER = """
def scaled_dot_product_attention(q, k, v):
    weights = softmax(torch.matmul(q, k.transpose(1, 2)), dim=-1)
    return torch.matmul(weights, v), weights
"""
NO_NAME = """
def softmax(x, dim=-1):
    e = (x - x.amax(dim, True)).exp() ** 1.5
    return e / e.sum(dim, True)
"""


def test_rounding_of_another_style_hides_no_name(namer):
    assert names(namer.named(FLOAT64_OF_FLOAT32)) == ["lets_the_root_promote_to_float64"]


def test_two_flaws_that_meet_in_one_test_get_both_names(namer):
    found = names(namer.named(TWO_FLAWS))
    assert found == ["ignores_keepdim", "answers_nan_for_a_row_of_minus_infinity"]


def test_a_crash_does_not_hide_the_flaw_in_the_calls_that_do_not_crash(namer):
    found = names(namer.named(MASKED_BY_ANOTHER))
    assert set(found) == {"compares_without_scaling", "transposes_axes_one_and_two"}


def test_a_name_says_how_many_failures_it_explains(namer):
    first = namer.named(TWO_FLAWS)[0]
    assert (first.explains, first.of, first.mostly) == (5, 7, True)


def test_what_is_certain_is_named_beside_what_is_in_no_bank(namer):
    (found,) = namer.named(BESIDE_ANOTHER)
    assert found.name == "squeezes_every_axis"
    assert 0 < found.explains < found.of / 2


def test_the_headline_explains_most_of_what_fails():
    namer = Namer("week05_transformer")
    found = namer.named("def sinusoidal_positions(T, d):\n    return torch.zeros(T, d)\n")
    assert names(found) == ["shows:zeros", "cuts_the_last_cosine_off"]
    assert found[0].explains > found[0].of / 2
    namer.engine.close()


def test_what_is_in_no_bank_gets_no_name(namer):
    assert namer.named(NO_NAME) == []
