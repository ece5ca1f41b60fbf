"""Parametrise tests, and mark some of their parameters as thorough (`make thorough`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import pytest
from _pytest.mark.structures import ParameterSet

from autograder.model.course import Week


def each_week(weeks: Iterable[Week], thorough: Collection[str]) -> pytest.MarkDecorator:
    """Parametrise the test's argument `week`; mark those in `thorough`."""
    marks = pytest.mark.thorough
    return pytest.mark.parametrize(
        "week",
        [pytest.param(w, id=w.name, marks=marks if w.name in thorough else ()) for w in weeks],
    )


def thorough_after(count: int, values: Iterable[object]) -> list[ParameterSet]:
    """Return parameters; all but the first `count` are thorough."""
    marks = pytest.mark.thorough
    return [pytest.param(v, marks=marks if n >= count else ()) for n, v in enumerate(values)]


def two_of(values: Sequence[str], number: int) -> tuple[str, str]:
    """Return two neighbouring values; consecutive numbers go through all values in turn."""
    return values[number % len(values)], values[(number + 1) % len(values)]
