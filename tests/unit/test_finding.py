"""Where in a module an error is raised under a condition, and where a parameter is made."""

from __future__ import annotations

import pytest

from autograder.repair import condition_of, ignored, maker_of, parameters

MODULE = """class Head(nn.Module):
    def __init__(self, size):
        super().__init__()
        if size % 2:
            raise ValueError(size)
        assert size > 0
        self.proj = nn.Linear(size, size)
        self.register_buffer("mask", torch.ones(size))
        self.table = None
        self.table = nn.Parameter(torch.ones(size))
        self.heads = Inner()


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.key = nn.Linear(2, 2)


class Other(nn.Module):
    def __init__(self):
        self.mask = nn.Parameter(torch.ones(2))
"""


@pytest.mark.parametrize(("line", "condition"), [(5, 4), (6, 6), (7, 0), (4, 0), (99, 0)])
def test_an_error_of_ones_own_stands_under_its_condition(line: int, condition: int) -> None:
    assert condition_of(MODULE, line) == condition


@pytest.mark.parametrize(
    ("name", "line"),
    [("proj.weight", 7), ("mask", 8), ("heads.key.bias", 17), ("heads.0.key.bias", 17)],
)
def test_a_parameter_is_made_where_its_attribute_is_set(name: str, line: int) -> None:
    assert maker_of(MODULE, "Head", name) == line


@pytest.mark.parametrize("name", ["table", "unknown", "weight", ""])
def test_no_line_is_told_where_two_make_it_or_none(name: str) -> None:
    assert maker_of(MODULE, "Head", name) == 0


def test_what_is_no_python_has_no_such_lines() -> None:
    assert (condition_of("def f(:", 1), maker_of("def f(:", "f", "mask")) == (0, 0)


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
def test_what_is_given_and_never_read(name: str, given: set[str], unread: set[str]) -> None:
    assert parameters(GIVEN, name) == given
    assert ignored(GIVEN, name) == unread
