"""Test what every misconception of the bank says of itself to students."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from autograder.model.course import Week, load
from autograder.model.course.bank import Bank, Misconception
from tests.courses import PROJECT

COURSE = load(PROJECT)
MOST_WORDS = 90  # of a wrong exercise, without what is folded


def requirements(week: Week) -> dict[tuple[str, str], str]:
    """Return the claims of a week's hidden tests, by exercise and test."""
    return {
        (file.stem, test.name): ast.get_docstring(test) or ""
        for file in COURSE.graders(week).glob("test_*.py")
        for test in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(test, ast.FunctionDef)
    }


def shown(week: Week) -> Iterator[tuple[Misconception, str]]:
    """Yield each misconception with the longest text that is not folded."""
    claims = requirements(week)
    for m in Bank(COURSE, week).misconceptions:
        claim = claims[f"test_{m.exercise}", m.rejected_by]
        yield (
            m,
            f"`{m.exercise}`: Partly correct, 1.25 of 2 points. In most checks it looks as if your "
            f"code {m.title} {m.hint} One line explains all failed checks: line 123 of "
            f"{week.module}. Requirement: {claim}",
        )


@pytest.mark.parametrize("week", COURSE.weeks, ids=lambda week: week.name)
def test_a_misconception_names_what_is_wrong_in_few_words(week: Week) -> None:
    texts = list(shown(week))
    assert not [m.name for m, _ in texts if " instead of " in m.title], "says what to write"
    assert not [m.name for m, text in texts if len(text.split()) > MOST_WORDS]
