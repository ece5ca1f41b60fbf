"""Shared inputs of week 12's graders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

Tensors = tuple[torch.Tensor, ...]


@pytest.fixture
def qkv(draw: Any) -> Callable[..., Tensors]:
    """Draw queries, keys and values: `qkv(2, 3, 6)` for B, H, T; d_k = 4 and d_v = 5 by default."""

    def make(*lead: int, d_k: int = 4, d_v: int = 5) -> Tensors:
        return draw.normal(*lead, d_k), draw.normal(*lead, d_k), draw.normal(*lead, d_v)

    return make


@pytest.fixture
def gated(draw: Any, qkv: Any) -> Callable[..., Tensors]:
    """Draw q, k, v and log_decay, between -1 and 0 by default: `gated(2, 3, 6, least=-4.0)`."""

    def make(*lead: int, least: float = -1.0, **sizes: int) -> Tensors:
        return *qkv(*lead, **sizes), draw.uniform(*lead, low=least, high=0.0)

    return make


@pytest.fixture
def written(draw: Any, qkv: Any) -> Callable[..., Tensors]:
    """Draw q, k, v and beta between 0.2 and 1, with keys of length 1: `written(2, 3, 6)`."""

    def make(*lead: int, **sizes: int) -> Tensors:
        q, k, v = qkv(*lead, **sizes)
        return q, k / k.norm(dim=-1, keepdim=True), v, draw.uniform(*lead, low=0.2, high=1.0)

    return make


def parts(tensors: Tensors, size: int) -> tuple[Tensors, Tensors]:
    """Split each tensor after its first `size` positions."""
    return tuple(x[:, :, :size] for x in tensors), tuple(x[:, :, size:] for x in tensors)


@pytest.fixture
def split() -> Callable[[Tensors, int], tuple[Tensors, Tensors]]:
    """Return `parts`."""
    return parts
