"""Test that an unwritten helper is named if a different exercise stops in it."""

from __future__ import annotations

import pytest

from autograder.grading.disclosure.failure_messages import crashed
from autograder.worker.protocol import frames

TEXT = '''"""A week."""


def softmax(x):
    """Weights.

    They sum to 1.
    """
    raise NotImplementedError("softmax")


class Block(Module):
    def forward(self, x):
        raise NotImplementedError


TABLE = [
]
raise NotImplementedError
'''
SOURCE = tuple(TEXT.split("\n"))
LINES = {"softmax": 9, "Block": 14, "": 19}


def said(called: str, inside: str, brought: bool = False) -> str:
    bases = ("NotImplementedError", "RuntimeError")
    raised = frames.Raised("NotImplementedError", bases, "", LINES[inside])
    return crashed(called, raised, "m.py", SOURCE, brought=brought).message


@pytest.mark.parametrize("called", ["softmax", "Block", "Block.forward"])
def test_an_exercise_itself(called: str) -> None:
    inside = called.partition(".")[0]
    where = f"`{called}` is not filled in yet (line {LINES[inside]} of m.py)."
    assert said(called, inside) == where


def test_what_it_calls_is_named_instead_of_the_caller() -> None:
    told = "`softmax` is not filled in yet (line 9 of m.py). `attention` calls it."
    assert said("attention", "softmax") == told
    assert said("attention", "Block").startswith("`Block` is not filled in yet (line 14")


def test_what_a_check_of_several_calls_stops_in() -> None:
    assert (
        said("in_a_row", "softmax", brought=True)
        == "`softmax` is not filled in yet (line 9 of m.py)."
    )


def test_a_line_outside_of_every_definition_names_nobody_else() -> None:
    assert said("attention", "").startswith("`attention` is not filled in yet (line 19")
    assert said("in_a_row", "", brought=True).startswith("What it calls is not filled in yet")
