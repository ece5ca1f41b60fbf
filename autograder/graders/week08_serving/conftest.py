"""Shared fixtures of week 8's graders: keys, values, and objects of injected.py and toys.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

Pair = Any


@pytest.fixture
def injected(agree: Any) -> Any:
    """Expose injected.py: `injected.JoiningCache()`, `injected.Model(…)` and the probes."""
    return agree.bringing(Path(__file__).with_name("injected.py").read_text(encoding="utf-8"))


@pytest.fixture
def toys(agree: Any) -> Any:
    """Expose the released file toys.py, so that students can make these calls in a notebook."""
    path = Path(__file__).parents[3] / "assets" / "toys.py"
    return agree.bringing(path.read_text(encoding="utf-8"))


@pytest.fixture
def pieces(draw: Any) -> Callable[..., list[tuple[Any, Any]]]:
    """Draw keys and values for each size: `pieces(3, 1)` draws 3 positions, then 1."""

    def make(*sizes: int, batch: int = 2, heads: int = 3, d: int = 4) -> list[tuple[Any, Any]]:
        shapes = [(batch, heads, size, d) for size in sizes]
        return [(draw.normal(*shape), draw.normal(*shape)) for shape in shapes]

    return make


@pytest.fixture
def trained_layer(draw: Any) -> tuple[torch.Tensor, ...]:
    """Draw a layer of the course's language model: q (1, H, T, d), k and v (1, H_kv, T, d)."""
    with np.load(Path(__file__).with_name("trained.npz")) as file:
        q, k, v = (torch.tensor(file[name]) for name in ("q", "k", "v"))
    layer = int(draw.integers(0, len(q)))
    return q[layer : layer + 1], k[layer : layer + 1], v[layer : layer + 1]
