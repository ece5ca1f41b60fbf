"""Load a new module's weights, and compute the gradients of a call."""

import zlib
from typing import Any

import torch
from torch import nn

from ..protocol import frames
from ..protocol.values import TORCH_DTYPES, Decoder, Encoder
from . import devices
from .devices import bare, tensors_in


def settle(
    module: nn.Module, request: frames.Call, buffers: list[memoryview]
) -> frames.StateMismatch | None:
    """Cast a new module, move it to the device, and load the requested weights.

    Returns the differences if names or shapes differ and `request.fitting` is False, else None.
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
    """Load weights by name, and by position where names differ.

    Biases without a counterpart are set to zero. Returns False, and loads nothing, if the number
    of other weights or a shape differs.
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
                        value.zero_().requires_grad_(False)  # the reference has no such parameter
                for name, place in into.items():
                    own[place].copy_(state[name])
            return True
    return False


def _fill(own: dict[str, torch.Tensor], device: str) -> None:
    """Draw normally distributed weights that depend only on the parameters' names and shapes."""
    for name, value in own.items():
        if value.is_floating_point():
            seed = torch.Generator().manual_seed(zlib.crc32(name.encode("utf-8", "replace")))
            drawn = torch.randn(tuple(value.shape), generator=seed).to(value.dtype)
            with torch.no_grad():
                value.copy_(devices.place(0.3 * drawn, device))


def shares_memory(result: nn.Module, args: list[Any]) -> bool:
    """Return True if a parameter of `result` shares memory with a module in `args`."""
    theirs = {bare(p).data_ptr() for a in args if isinstance(a, nn.Module) for p in a.parameters()}
    return any(bare(p).data_ptr() in theirs for p in result.parameters()) if theirs else False


def pulled_back(
    result: Any,
    request: frames.Call,
    inputs: list[torch.Tensor],
    decoder: Decoder,
    encoder: Encoder,
) -> tuple[tuple[frames.Value, ...], tuple[int, ...]]:
    """Run a backward pass with the request's cotangents.

    Returns the encoded gradients with respect to the inputs that require gradients, and the indices
    of the float results that do not require gradients. Returns () in place of the gradients if no
    result that requires gradients has a cotangent of the same shape.
    """
    outputs = [t for t in tensors_in(result) if t.is_floating_point()]
    wanted = [t for t in inputs if t.requires_grad]
    detached = tuple(i for i, y in enumerate(outputs) if not y.requires_grad)
    plain = Decoder(decoder.buffers, tensor=lambda x: devices.place(x, request.device))
    cotangents = [plain(v) for v in request.cotangents or ()]
    pairs = [(y, c) for y, c in zip(outputs, cotangents, strict=False) if y.shape == c.shape]
    pairs = [(y, c.to(y.dtype)) for y, c in pairs if y.requires_grad]
    if not pairs:
        return (), detached
    with torch.set_grad_enabled(True):  # the submission may have changed the mode
        weighted = _Weighted.apply([c for _, c in pairs], *(y for y, _ in pairs))  # type: ignore[no-untyped-call]  # untyped in torch
    nodes = _nodes(weighted)
    # `torch.autograd.grad` does not support reentrant checkpoints (`torch.utils.checkpoint`)
    if any(type(node).__name__ == "CheckpointFunctionBackward" for node in nodes):
        gradients = _accumulated(weighted, wanted, nodes)
    else:
        gradients = list(torch.autograd.grad(weighted, wanted, allow_unused=True))
    return tuple(encoder(g) for g in gradients), detached


def _nodes(result: torch.Tensor) -> set[Any]:
    waiting, found = [result.grad_fn], set[Any]()
    while waiting:
        node: Any = waiting.pop()
        if node is not None and node not in found:
            found.add(node)
            waiting += [earlier for earlier, _ in node.next_functions]
    return found


def _accumulated(
    total: torch.Tensor, wanted: list[torch.Tensor], nodes: set[Any]
) -> list[torch.Tensor | None]:
    """Return the gradients that `total.backward()` computes, and restore all `grad` attributes."""
    leaves = [node.variable for node in nodes if hasattr(node, "variable")]
    before = [(x, x.grad) for x in {id(x): x for x in (*wanted, *leaves)}.values()]
    try:
        for x, _ in before:
            x.grad = None
        total.backward()
        return [x.grad for x in wanted]
    finally:
        for x, gradient in before:
            x.grad = gradient


class _Weighted(torch.autograd.Function):
    """Computes a scalar whose gradient with respect to each result is that result's cotangent.

    This replaces the argument `grad_outputs` of `torch.autograd.grad`, which would import sympy.
    """

    @staticmethod
    def forward(ctx: Any, cotangents: list[torch.Tensor], *results: torch.Tensor) -> torch.Tensor:
        ctx.cotangents = cotangents
        return results[0].new_zeros(())

    @staticmethod
    def backward(ctx: Any, _: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        return (None, *ctx.cotangents)
