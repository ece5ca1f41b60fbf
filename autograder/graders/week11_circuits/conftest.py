"""Shared fixtures of week 11's graders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch


@pytest.fixture
def injected(agree: Any) -> Any:
    """Expose injected.py: `injected.Model(...)` and functions that use an exercise."""
    return agree.bringing(Path(__file__).with_name("injected.py").read_text(encoding="utf-8"))


@pytest.fixture
def model(injected: Any) -> Callable[..., Any]:
    """Create a pair of models with drawn weights: `model(layers=2, heads=3)`."""

    def make(layers: int = 2, heads: int = 3, vocabulary: int = 11, width: int = 6) -> Any:
        return injected.impurely.weights(0.6).Model(vocabulary, width, layers, heads)

    return make


@pytest.fixture
def attention(draw: Any) -> Callable[..., torch.Tensor]:
    """Draw causal attention weights: `attention(B, H, T)` is (B, H, T, T)."""

    def make(batch: int, heads: int, length: int) -> torch.Tensor:
        scores = 2 * draw.normal(batch, heads, length, length)
        hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
        return scores.masked_fill(hidden, -torch.inf).softmax(-1)

    return make


@pytest.fixture
def head(draw: Any) -> Callable[..., tuple[torch.Tensor, ...]]:
    """Draw `embed` (V, C), `W_V` (..., d, C), `W_O` (..., C, d) and `unembed` (V, C)."""

    def make(
        vocabulary: int, width: int, d: int, *leading: int
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        return (
            draw.normal(vocabulary, width),
            draw.normal(*leading, d, width),
            draw.normal(*leading, width, d),
            draw.normal(vocabulary, width),
        )

    return make
