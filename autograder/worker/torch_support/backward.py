"""The backward pass of a call: vector-Jacobian products."""

from __future__ import annotations

from typing import Any

import torch

from ..protocol import frames
from ..protocol.values import Decoder, Encoder
from . import devices
from .tensors import tensors_in


def pulled_back(
    result: Any,
    request: frames.Call,
    inputs: list[torch.Tensor],
    decoder: Decoder,
    encoder: Encoder,
) -> tuple[tuple[frames.Value, ...], tuple[int, ...]]:
    """Return the vector-Jacobian products of the float results, and which results are detached."""
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
        weighted = _Weighted.apply([c for _, c in pairs], *(y for y, _ in pairs))  # type: ignore[no-untyped-call]  # torch's
    nodes = _nodes(weighted)
    # torch.utils.checkpoint runs its own backward pass, and refuses `torch.autograd.grad`
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
    """Return the gradients that `total.backward()` accumulates, and restore `grad` everywhere."""
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
    """A scalar whose gradient with respect to each result is that result's cotangent.

    Passing cotangents to `torch.autograd.grad` as `grad_outputs` would import sympy.
    """

    @staticmethod
    def forward(ctx: Any, cotangents: list[torch.Tensor], *results: torch.Tensor) -> torch.Tensor:
        ctx.cotangents = cotangents
        return results[0].new_zeros(())

    @staticmethod
    def backward(ctx: Any, _: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        return (None, *ctx.cotangents)
