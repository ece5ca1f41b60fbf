"""Shared fixtures of week 8's graders: keys and values, and the objects in injected.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Pair = Any


@pytest.fixture
def injected(agree: Any) -> Any:
    """Expose injected.py: `injected.JoiningCache()`, `injected.Model(…)` and the probes."""
    return agree.bringing(Path(__file__).with_name("injected.py").read_text(encoding="utf-8"))


@pytest.fixture
def pieces(draw: Any) -> Callable[..., list[tuple[Any, Any]]]:
    """Draw keys and values for each size: `pieces(3, 1)` draws 3 positions, then 1."""

    def make(*sizes: int, batch: int = 2, heads: int = 3, d: int = 4) -> list[tuple[Any, Any]]:
        shapes = [(batch, heads, size, d) for size in sizes]
        return [(draw.normal(*shape), draw.normal(*shape)) for shape in shapes]

    return make
