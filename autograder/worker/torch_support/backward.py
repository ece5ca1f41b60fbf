"""The backward pass of a call: vector-Jacobian products, unless their formulas were checked."""

from __future__ import annotations

from typing import Any

import torch

from ..protocol import frames
from ..protocol.values import FAKE_DEVICE, TORCH_NAMES, Decoder, Encoder
from . import devices
from .tensors import tensors_in


def pulled_back(
    result: Any,
    request: frames.Call,
    inputs: list[torch.Tensor],
    known: set[tuple[str, ...]],
    decoder: Decoder,
    encoder: Encoder,
) -> tuple[tuple[frames.Value, ...], tuple[int, ...]]:
    """Return the vector-Jacobian products of the float results, and which results are detached.

    known: formulas that the same call used on the CPU, where their gradients were compared. If the
           fake GPU uses the same formulas of torch, the pass is not run there, and the gradients
           are sent without data
    """
    outputs = [t for t in tensors_in(result) if t.is_floating_point()]
    wanted = [t for t in inputs if t.requires_grad]
    detached = tuple(i for i, y in enumerate(outputs) if not y.requires_grad)
    if len(detached) == len(outputs):
        return (), detached
    graph = devices.Graph(outputs)
    if request.device != devices.FAKE:
        known.add(graph.formulas)
    elif graph.formulas in known and not graph.has_custom_formulas:
        reached = (
            frames.TensorV(TORCH_NAMES[x.dtype], tuple(x.shape), None, FAKE_DEVICE, None)
            if graph.reaches(x)
            else None
            for x in wanted
        )
        return tuple(reached), detached
    plain = Decoder(decoder.buffers, tensor=lambda x: devices.place(x, request.device))
    cotangents = [plain(v) for v in request.cotangents or ()]
    pairs = [(y, c) for y, c in zip(outputs, cotangents, strict=False) if y.shape == c.shape]
    pairs = [(y, c.to(y.dtype)) for y, c in pairs if y.requires_grad]
    if not pairs:
        return (), detached
    with torch.set_grad_enabled(True):  # the submission may have changed the mode
        weighted = _Weighted.apply([c for _, c in pairs], *(y for y, _ in pairs))  # type: ignore[no-untyped-call]  # torch's
    if graph.accumulates:
        gradients = devices.accumulated(weighted, wanted)
    else:
        gradients = list(torch.autograd.grad(weighted, wanted, allow_unused=True))
    return tuple(encoder(g) for g in gradients), detached


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
