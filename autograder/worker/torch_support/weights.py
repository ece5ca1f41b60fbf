"""Cast a new module, load its weights and move it to a device."""

from __future__ import annotations

import zlib
from typing import Any

import torch
from torch import nn

from ..protocol import frames
from ..protocol.values import TORCH_DTYPES, Decoder
from . import devices
from .tensors import bare


def settle(
    module: nn.Module, request: frames.Call, buffers: list[memoryview]
) -> frames.StateMismatch | None:
    """Cast a new module, load the requested weights, and move it to the device.

    Returns the mismatch if names or shapes differ and the request does not allow that.
    """
    dtype = TORCH_DTYPES[request.dtype] if request.dtype else None
    devices.move_module(module, request.device, dtype)
    if not isinstance(request.state, frames.MapV):
        return None
    decoder = Decoder(buffers, tensor=lambda x: devices.place(x, request.device))
    state = decoder(request.state)
    own = module.state_dict()
    mismatch = frames.StateMismatch(
        missing=tuple(sorted(state.keys() - own.keys()))[:50],
        unexpected=tuple(sorted(own.keys() - state.keys()))[:50],
        shapes=tuple(
            (name, tuple(state[name].shape), tuple(own[name].shape))
            for name in sorted(state.keys() & own.keys())
            if state[name].shape != own[name].shape
        ),
    )
    if mismatch.missing or mismatch.unexpected or mismatch.shapes:
        if not request.fitting:
            return mismatch
        tables = {name for name, _ in module.named_buffers()} - state.keys()
        trained = {name: value for name, value in own.items() if name not in tables}
        if not _load_by_position(trained, state):
            _fill(trained, request.device)
        return None
    module.load_state_dict(state, strict=True)
    return None


def _load_by_position(own: dict[str, torch.Tensor], state: dict[str, torch.Tensor]) -> bool:
    """Load weights by name, or by position if names differ; set additional biases to zero.

    Return False if the shapes do not match.
    """
    free = [name for name in own if name not in state]
    spare = [name for name in free if name.rpartition(".")[2] == "bias"]
    for names in (free, [name for name in free if name not in spare]):
        wanted = [name for name in state if name not in own]
        into = {**{n: n for n in state if n in own}, **dict(zip(wanted, names, strict=False))}
        fits = all(own[o].shape == state[n].shape for n, o in into.items())
        if len(wanted) == len(names) and fits:
            with torch.no_grad():
                for name, value in own.items():
                    if name not in into.values():
                        value.zero_().requires_grad_(False)  # its gradient is not compared
                for name, place in into.items():
                    own[place].copy_(state[name])
            return True
    return False


def _fill(own: dict[str, torch.Tensor], device: str) -> None:
    """Fill layers of different sizes with values that depend only on their names."""
    for name, value in own.items():
        if value.is_floating_point():
            seed = torch.Generator().manual_seed(zlib.crc32(name.encode("utf-8", "replace")))
            drawn = torch.randn(tuple(value.shape), generator=seed).to(value.dtype)
            with torch.no_grad():
                value.copy_(devices.place(0.3 * drawn, device))


def shares_memory(result: nn.Module, args: list[Any]) -> bool:
    """Return True if `result` shares a parameter with any module in `args`."""
    theirs = {bare(p).data_ptr() for a in args if isinstance(a, nn.Module) for p in a.parameters()}
    return any(bare(p).data_ptr() in theirs for p in result.parameters()) if theirs else False
