"""Shared fixtures of week 10's graders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch


@pytest.fixture
def injected(agree: Any) -> Any:
    """Expose injected.py: `injected.JoiningCache()` and the functions that use an exercise."""
    return agree.bringing(Path(__file__).with_name("injected.py").read_text(encoding="utf-8"))


@pytest.fixture
def weight_file(agree: Any) -> Callable[..., Any]:
    """Return `weight_file` of the released module toy_weights.py."""
    path = Path(__file__).parents[3] / "assets" / "toy_weights.py"
    return agree.bringing(path.read_text(encoding="utf-8")).impurely.weight_file


@pytest.fixture
def frequencies() -> Callable[..., torch.Tensor]:
    """Return float32 frequencies of a head of width d: `frequencies(6)`, `frequencies(6, 50.0)`."""

    def make(d: int, base: float = 100.0) -> torch.Tensor:
        return (base ** -(torch.arange(0, d, 2, dtype=torch.float64) / d)).float()

    return make


def in_pieces(module: Any, x: torch.Tensor, sizes: tuple[int, ...], *rest: Any) -> torch.Tensor:
    """Feed x in chunks, compare each output, and return the student's outputs, concatenated."""
    return torch.cat([module(piece, *rest) for piece in x.split(sizes, dim=1)], dim=1)


@pytest.fixture
def fed() -> Callable[..., torch.Tensor]:
    """Return `in_pieces`."""
    return in_pieces
