"""Find and replace tensors in nested values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .fake_device import ClaimedTensor


def tensors_in(value: Any) -> list[torch.Tensor]:
    """Return the tensors in nested tuples, lists and dicts, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [t for v in value for t in tensors_in(v)]
    if isinstance(value, dict):
        return [t for v in value.values() for t in tensors_in(v)]
    return []


def map_tensors(value: Any, function: Callable[[torch.Tensor], Any]) -> Any:
    """Replace the tensors in nested tuples, lists and dicts."""
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, (tuple, list)):
        return type(value)(map_tensors(v, function) for v in value)
    if isinstance(value, dict):
        return {k: map_tensors(v, function) for k, v in value.items()}
    return value


def bare(x: torch.Tensor) -> torch.Tensor:
    """Return the CPU tensor with a fake GPU tensor's data; return other tensors unchanged."""
    return x.elem if isinstance(x, ClaimedTensor) else x
