"""What a call has no business changing: its arguments and the process's global state."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import torch
from torch import nn


class Before:
    """The state that a call has no business changing, as it was."""

    def __init__(self, leaves: list[torch.Tensor], args: list[Any], kwargs: dict[str, Any]):
        self.tensors = [(x, x.detach().clone(), x.shape, x.stride()) for x in leaves]
        arrays = [a for a in [*args, *kwargs.values()] if isinstance(a, np.ndarray)]
        self.arrays = [(a, a.tobytes(), a.shape) for a in arrays]
        modules = [a for a in [*args, *kwargs.values()] if isinstance(a, nn.Module)]
        self.modules = [(m, _settings(m)) for m in modules]
        self.torch_rng = torch.get_rng_state()
        self.numpy_rng = _numpy_state()
        self.python_rng = random.getstate()
        self.dtype = torch.get_default_dtype()

    def compare(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        mutated = []
        for number, (x, old, shape, stride) in enumerate(self.tensors):
            if x.shape != shape or x.stride() != stride:
                mutated.append(f"tensor {number + 1} was reshaped in place")
            elif type(x) is torch.Tensor and not _same_bits(x, old):
                mutated.append(f"tensor {number + 1}")
        for number, (a, old_bytes, old_shape) in enumerate(self.arrays):
            if a.shape != old_shape or a.tobytes() != old_bytes:
                mutated.append(f"array {number + 1}")
        for module, settings in self.modules:
            now = _settings(module)
            mutated += [f"its {name}" for name in settings if settings[name] != now[name]]
        effects = []
        if not torch.equal(self.torch_rng, torch.get_rng_state()):
            effects.append("torch's global random state")
        numpy_rng = _numpy_state()
        if self.numpy_rng[1] != numpy_rng[1] or not np.array_equal(self.numpy_rng[0], numpy_rng[0]):
            effects.append("numpy's global random state")
        if self.python_rng != random.getstate():
            effects.append("Python's global random state")
        if self.dtype != torch.get_default_dtype():
            effects.append("torch's default dtype")
            torch.set_default_dtype(self.dtype)
        if not torch.is_grad_enabled():
            effects.append("torch's gradient mode")
            torch.set_grad_enabled(True)
        return tuple(mutated), tuple(effects)


def _settings(module: nn.Module) -> dict[str, Any]:
    """How a module runs, and what a Hugging Face model's config says about its attention."""
    config = getattr(module, "config", None)
    return {
        "mode, training or evaluation": [m.training for m in module.modules()],
        "attention implementation": str(getattr(config, "_attn_implementation", None)),
        "config's output_attentions": bool(getattr(config, "output_attentions", None)),
    }


def _numpy_state() -> tuple[Any, int]:
    state = np.random.get_state(legacy=False)
    assert isinstance(state, dict)
    return state["state"]["key"].copy(), int(state["state"]["pos"])


def _same_bits(x: torch.Tensor, old: torch.Tensor) -> bool:
    x = x.detach()
    if torch.equal(x, old):
        return True
    return (
        x.is_floating_point()
        and torch.equal(torch.isnan(x), torch.isnan(old))
        and torch.equal(torch.nan_to_num(x), torch.nan_to_num(old))
    )
