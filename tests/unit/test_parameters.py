"""Test parameters of an exercise, and parameters that it never reads."""

from __future__ import annotations

import pytest

from autograder.repair import parameters, required_parameters, unread_parameters

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


@pytest.mark.parametrize(
    ("source", "unread"),
    [
        ("def f(x, mask, dim=-1):\n    return x", {"mask", "dim"}),
        ("def f(*given):\n    return given[0]", set()),
        ("def f(x, mask):\n    def inner():\n        return x + mask\n    return inner()", set()),
        ("def f(x, mask):\n    return x\n\nf = both(f)", set()),
        ("@both\ndef f(x, mask):\n    return x", set()),
        ("def f(x, mask:", set()),
    ],
)
def test_a_function_that_may_read_a_parameter_elsewhere_reads_it(source, unread) -> None:
    assert unread_parameters(source, "f") == unread


def test_parameters_with_a_default_are_not_required() -> None:
    assert required_parameters("def f(x, mask, dim=-1):\n    return x", "f") == {"x", "mask"}
    assert required_parameters("class f:\n    pass", "f") == frozenset()
