"""Test parameters of an exercise, and parameters that it never reads."""

from __future__ import annotations

import pytest

from autograder.repair import parameters, unread_parameters

GIVEN = """def f(x, dim=-1, *, keepdim=False):
    def inner(keepdim): return x
    return inner(1)


def everything(x, y):
    return locals()


class M:
    def __init__(self, a, b):
        self.a = a

    def forward(self, x, mask=None):
        return x

    def other(self, unread): ...
"""


@pytest.mark.parametrize(
    ("name", "given", "unread"),
    [
        ("f", {"x", "dim", "keepdim"}, {"dim", "keepdim"}),
        ("everything", {"x", "y"}, set()),
        ("M", {"self", "a", "b", "x", "mask"}, {"b", "mask"}),
        ("unknown", set(), set()),
    ],
)
def test_parameters_that_are_never_read(name: str, given: set[str], unread: set[str]) -> None:
    assert parameters(GIVEN, name) == given
    assert unread_parameters(GIVEN, name) == unread
