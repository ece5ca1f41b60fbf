"""Test locating a named misconception by code that no correct program contains."""

from __future__ import annotations

import pytest

from autograder.grading.localization.candidate_runner import WrongExercise
from autograder.grading.localization.distinctive_code import WORD, DistinctiveCode, fragments
from autograder.model.report.findings import SHOWN

SOLUTION = """def scaled(x, dim):
    shifted = x - x.mean(dim, keepdim=True)
    return shifted / shifted.std(dim, keepdim=True)
"""
ALTERNATIVE = """def scaled(x, dim):
    spread = x.var(dim, keepdim=True).sqrt()
    return (x - x.mean(dim, keepdim=True)) / spread
"""
MISCONCEPTION = """def scaled(x, dim):
    centred = x - x.median(dim, keepdim=True).values
    return centred / centred.std(dim, keepdim=True, correction=0)
"""


def lines(source: str, misconception: str = MISCONCEPTION, largest: int | None = None) -> list[int]:
    code = DistinctiveCode("scaled", [SOLUTION, ALTERNATIVE])
    wrong = WrongExercise({"m.py": source.encode()}, "m.py", "scaled", frozenset({"other"}), ())
    size, places = code.smallest(wrong, misconception)
    assert all((p.file, p.function, p.kind) == ("m.py", "scaled", SHOWN) for p in places)
    return [place.line for place in places if largest is None or size <= largest]


def test_a_name_that_no_correct_program_uses_is_located():
    assert lines(
        "def scaled(y, dim):\n    m = y.median(dim)\n    return y - m\n", largest=WORD
    ) == [2]


@pytest.mark.parametrize("call", ["y.std(dim, correction=0)", "std(y,\n        correction=1)"])
def test_a_keyword_is_located_on_its_own_line(call):
    source = f"def scaled(y, dim):\n    m = y.mean(dim)\n    return (y - m) / {call}\n"
    assert lines(source) == [3 + call.count("\n")]


def test_an_expression_is_located_whatever_its_variables_are_called():
    misconception = "def scaled(x, dim):\n    return x / x.sqrt().std(dim, keepdim=True)\n"
    source = "def scaled(x, dim):\n    r = x.sqrt()\n    return r / x.std(dim, keepdim=True)\n"
    assert lines(source, misconception) == [2]
    assert lines(source, misconception, largest=WORD) == []


def test_code_that_a_correct_program_contains_is_not_located():
    assert lines(ALTERNATIVE) == lines(SOLUTION) == []


def test_code_on_several_lines_is_not_located():
    source = "def scaled(x, dim):\n    a = x.median()\n    b = x.median()\n    return a / b\n"
    assert lines(source, largest=WORD) == []


def test_code_of_other_exercises_is_not_located():
    other = "def other(x):\n    return x.median()\n"
    own = "def scaled(x, dim):\n    return other(x)\n"
    assert lines(other + own) == []


@pytest.mark.parametrize("source", ["def scaled(x, dim:\n", "", "x = " + "(" * 5000, "\0"])
def test_a_source_that_cannot_be_parsed_has_no_fragments(source):
    assert fragments(source, "scaled") == {}
    assert lines(source) == []
