"""Test locating mistakes in signatures and in the parameters of layers."""

from __future__ import annotations

import pytest

from autograder.grading.localization.candidate_runner import WrongExercise
from autograder.grading.localization.declarations import attribute_places, declaration_places
from autograder.grading.running.pytest_plugin import Ran
from autograder.model.report import schema
from autograder.model.report.findings import MAKES, SHOWN
from autograder.model.report.schema import Verdict
from autograder.worker.protocol.frames import Raised, Reply, StateMismatch

SOLUTION = """class Layer(nn.Module):
    def __init__(self, width, heads=1):
        self.W = nn.Linear(width, width)
        self.V = nn.Linear(width, width)

    def forward(self, x, mask=None):
        return self.W(x)
"""
REJECTED = Reply("ok", raised=Raised("TypeError", (), "", None))
INSIDE = Reply("ok", raised=Raised("TypeError", (), "", 7))


def ran(reply: Reply, verdict: Verdict = Verdict.CRASHED) -> Ran:
    return Ran(schema.TestReport("test_values", verdict, 1.0), "Layer", [(reply, [])])


def lines(source: str, *replies: Reply) -> list[tuple[int, str, int]]:
    failed = tuple(ran(reply) for reply in replies)
    wrong = WrongExercise({"m.py": source.encode()}, "m.py", "Layer", frozenset(), failed)
    return [(p.line, p.kind, p.explains) for p in declaration_places(wrong, SOLUTION)]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("x, mask=None", "x", 6),
        ("x, mask=None", "x, mask", 6),
        ("x, mask=None", "x, hidden=None", 6),
        ("width, heads=1", "width", 2),
        ("width, heads=1", "width, depth, heads=1", 2),
    ],
)
def test_a_signature_that_rejects_a_call_is_located(old, new, line):
    assert lines(SOLUTION.replace(old, new), REJECTED) == [(line, Verdict.CRASHED.value, 0)]


@pytest.mark.parametrize("new", ["x, mask=None, more=0", "*args, **options", "x, *, mask=None"])
def test_a_signature_that_accepts_the_same_calls_is_not_located(new):
    assert lines(SOLUTION.replace("x, mask=None", new), REJECTED) == []


def test_an_error_inside_the_code_is_not_blamed_on_a_signature():
    assert lines(SOLUTION.replace("x, mask=None", "x, mask"), INSIDE) == []


def test_tests_that_fail_for_a_different_reason_are_not_explained():
    found = lines(SOLUTION.replace("x, mask=None", "x"), REJECTED, INSIDE, INSIDE)
    assert [explains for *_, explains in found] == [1]


RENAMED = SOLUTION.replace("self.V", "self.value")


@pytest.mark.parametrize(
    ("source", "mismatch", "line"),
    [
        (RENAMED, StateMismatch(("V.weight",), ("value.weight",), ()), 4),
        (SOLUTION, StateMismatch((), (), (("W.weight", (2, 2), (2, 4)),)), 3),
        (SOLUTION, StateMismatch(("W.bias",), (), ()), 3),
        (SOLUTION, StateMismatch(("U.weight",), (), ()), 2),
    ],
)
def test_the_line_that_creates_a_wrong_parameter_is_located(source, mismatch, line):
    assert lines(source, Reply("ok", mismatch=mismatch)) == [(line, MAKES, 0)]


def test_code_that_cannot_be_parsed_has_no_declarations():
    assert lines("class Layer(:\n", REJECTED) == []


MISCONCEPTION = f"""{SOLUTION}
_Right = Layer


class Layer(_Right):
    def __init__(self, width, heads=1):
        super().__init__(width, heads)
        self.V[0] = nn.Identity()
"""


@pytest.mark.parametrize(
    ("misconception", "found"),
    [
        (MISCONCEPTION, [(4, SHOWN)]),
        (MISCONCEPTION.replace("self.V[0]", "self.unknown"), []),
        (MISCONCEPTION + "        self.W = nn.Identity()\n", []),
        (MISCONCEPTION + "\n    def forward(self, x, mask=None):\n        return x\n", []),
    ],
    ids=["one attribute", "an attribute of the bank alone", "two attributes", "another method"],
)
def test_a_wrong_layer_is_located_where_it_is_created(misconception, found):
    wrong = WrongExercise({"m.py": SOLUTION.encode()}, "m.py", "Layer", frozenset(), ())
    assert [(p.line, p.kind) for p in attribute_places(wrong, misconception)] == found
