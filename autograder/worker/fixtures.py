"""Arguments that a grader names as plain data and only the worker can build."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from . import devices


def build(kind: str, content: Any, device: str) -> Any:
    """The object for a `SpecialV` of this kind."""
    if kind == "torch_mha":
        return _torch_mha(content, device)
    raise ValueError(f"no such fixture: {kind}")


def _torch_mha(content: dict[str, Any], device: str) -> nn.MultiheadAttention:
    state = content["state"]
    dtype = next(iter(state.values())).dtype
    generator_state = torch.get_rng_state()
    module = nn.MultiheadAttention(
        content["embed_dim"], content["num_heads"], bias=content["bias"], batch_first=True
    )
    torch.set_rng_state(generator_state)
    with devices.mode_for(device):
        devices.move_module(module, device, dtype)
        module.load_state_dict(state)
    return module
