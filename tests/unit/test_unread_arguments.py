"""Test that misconceptions about an argument do not match programs that never read it."""

from __future__ import annotations

import pytest

from autograder.grading.diagnosis.unread_arguments import required_arguments, unread


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(x, mask, dim=-1):\n    return x", {1}),
        ("def f(x, mask, dim=-1):\n    return x * mask", set()),
        ("def f(a, b, dim=-1):\n    return 0", {0, 1}),
        ("def f(*given):\n    return given[0]", set()),
        ("def f(x, mask):\n    return g(**locals())", set()),
        ("def f(x, mask):\n    def inner():\n        return x + mask\n    return inner()", set()),
        ("def f(x, mask):\n    return x\n\nf = g", set()),
        ("def f(x, mask):\n    return x\n\nf = both(f)", set()),
        ("def g(x, mask):\n    return x\n\nf = g", {1}),
        ("@both\ndef f(x, mask):\n    return x", set()),
        ("class f:\n    pass", set()),
        ("def f(x, mask:", set()),
    ],
)
def test_an_argument_that_is_never_mentioned_is_unread(source: str, expected: set[int]) -> None:
    assert unread(source, "f", 2) == expected


def test_arguments_with_a_default_are_not_required() -> None:
    assert required_arguments("def f(x, mask, dim=-1):\n    return x", "f") == 2
    assert required_arguments("class f:\n    pass", "f") == 0
