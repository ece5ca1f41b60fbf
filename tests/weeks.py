"""Parametrise tests by week; some weeks are marked as thorough (`make e2e`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import pytest

from autograder.model.course import Week


def each_week(weeks: Iterable[Week], thorough: Collection[str]) -> pytest.MarkDecorator:
    """Parametrise the test's argument `week`; mark those in `thorough`."""
    marks = pytest.mark.thorough
    return pytest.mark.parametrize(
        "week",
        [pytest.param(w, id=w.name, marks=marks if w.name in thorough else ()) for w in weeks],
    )
