"""Shared inputs of week 13's graders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch


@pytest.fixture
def injected(agree: Any) -> Any:
    """Expose the functions of injected.py, which inspect a cache."""
    return agree.bringing(Path(__file__).with_name("injected.py").read_text(encoding="utf-8"))


@pytest.fixture
def pieces(draw: Any) -> Callable[..., list[tuple[Any, Any]]]:
    """Draw keys and values for each size: `pieces(3, 1)` draws 3 positions, then 1."""

    def make(*sizes: int, lead: Any = (2, 3), d: int = 4, d_v: int = 5) -> list[tuple[Any, Any]]:
        return [(draw.normal(*lead, s, d), draw.normal(*lead, s, d_v)) for s in sizes]

    return make


@pytest.fixture
def frequencies() -> Callable[..., torch.Tensor]:
    """Return float32 frequencies of a head of width d: `frequencies(6)`, `frequencies(6, 50.0)`."""

    def make(d: int, base: float = 100.0) -> torch.Tensor:
        return (base ** -(torch.arange(0, d, 2, dtype=torch.float64) / d)).float()

    return make
