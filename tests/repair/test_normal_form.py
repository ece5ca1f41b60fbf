"""Programs that differ only in their wording have the same normal form."""

from __future__ import annotations

import pytest

from autograder.repair import normal_form

MEAN = '''def mean(x, dim=-1):
    """The mean."""
    total = x.sum(dim=-1)
    count = x.shape[dim]
    return total / count


def other(x):
    return x + 1
'''
SAME = [
    f'"""Mine."""\n# mine\n{MEAN}',
    MEAN.replace("x + 1", "x + 2"),
    MEAN.replace("total", "s").replace("count", "n"),
    MEAN.replace("total", "count_").replace("count\n", "total\n").replace("count ", "total "),
    MEAN.replace('    """The mean."""\n', "\n    # in two steps\n\n"),
    MEAN.replace("total = x.sum( dim = -1 )", "total = x.sum(dim=-1)"),
]
OTHER = [
    f"import math\n{MEAN}",
    MEAN.replace("dim=-1)", "dim=0)"),
    MEAN.replace("total / count", "count / total"),
    MEAN.replace("total / count", "total / total"),
    MEAN.replace("total / count", "total / 2"),
    MEAN.replace("(x,", "(y,").replace("x.", "y."),  # who calls it may say x=...
    MEAN.replace("count", "len").replace("return", "len(x)\n    return"),
    MEAN.replace("x.sum(dim=-1)", "(\n        x.sum(dim=-1)\n    )"),
    "def mean(:",
]


@pytest.mark.parametrize("text", SAME)
def test_what_does_the_same_says_the_same(text: str) -> None:
    assert normal_form(text, "mean").words == normal_form(MEAN, "mean").words


@pytest.mark.parametrize("text", OTHER)
def test_what_may_do_something_else_says_something_else(text: str) -> None:
    assert normal_form(text, "mean").words != normal_form(MEAN, "mean").words


def test_lines_correspond_in_order() -> None:
    moved = MEAN.replace('    """The mean."""\n', "\n    # in two steps\n\n")
    assert normal_form(MEAN, "mean").lines == (1, 3, 4, 5)
    assert normal_form(moved, "mean").lines == (1, 5, 6, 7)


def test_functions_may_stand_in_another_order() -> None:
    helped = MEAN.replace("x.shape[dim]", "other(x)")
    mean, other = helped.split("\n\n\n")
    one, turned = normal_form(helped, "mean"), normal_form(f"{other}\n\n{mean}", "mean")
    assert one.words == turned.words
    assert (one.lines, turned.lines) == ((1, 3, 4, 5, 8, 9), (5, 7, 8, 9, 1, 2))


@pytest.mark.parametrize("looks", ["locals()['total']", "eval('total')", "vars()['total']"])
def test_names_count_where_the_function_looks_at_them(looks: str) -> None:
    text = MEAN.replace("total / count", looks)
    assert normal_form(text, "mean").words != normal_form(text.replace("count", "n"), "mean").words


KEYWORD = """def mean(x):
    def part(a, b):
        return a - b
    a = 1
    return part(a=x, b=a)
"""


def test_what_a_call_says_by_name_is_not_renamed() -> None:
    other = KEYWORD.replace("a, b", "b, a")
    assert normal_form(KEYWORD, "mean").words != normal_form(other, "mean").words


GLOBAL = """COUNT = 3


def mean(x):
    total = x.sum()
    return total / COUNT
"""


def test_names_of_the_module_are_no_local_ones() -> None:
    other = GLOBAL.replace("total / COUNT", "COUNT / COUNT")
    assert normal_form(GLOBAL, "mean").words != normal_form(other, "mean").words
    renamed = GLOBAL.replace("COUNT", "SIZE")
    assert normal_form(GLOBAL, "mean").words != normal_form(renamed, "mean").words
