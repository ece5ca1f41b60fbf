"""Load a new module's weights, and compute the gradients of a call."""

import zlib
from collections import Counter
from typing import Any

import torch
from torch import nn

from ..protocol import frames
from ..protocol.values import TORCH_DTYPES, Decoder, Encoder
from . import devices
from .devices import bare, tensors_in

_FITTED = "_fitted_parameters"  # the attribute of a module with parameters of other names


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
        _load_what_fits(module, trained, state, request.device)
        return None
    module.load_state_dict(state, strict=True)
    return None


def _load_what_fits(
    module: nn.Module, own: dict[str, torch.Tensor], state: dict[str, torch.Tensor], device: str
) -> None:
    """Load weights by name, else in order, where the layers may be divided in a different way.

    Layers get the biases that they lack, and biases without a counterpart are set to zero. The
    values of all other parameters depend only on their names and shapes.
    """
    places = {n: n for n, x in state.items() if n in own and own[n].shape == x.shape}
    loaded = set(places)
    with torch.no_grad():
        for kind in dict.fromkeys(_kind(n, x) for n, x in state.items() if x.dim()):
            wanted = [n for n, x in state.items() if n not in places and _kind(n, x) == kind]
            free = [n for n, x in own.items() if n not in loaded and _kind(n, x) == kind]
            shapes = Counter(state[n].shape for n in wanted)
            if shapes <= Counter(own[n].shape for n in free):
                for name in wanted:
                    place = next(n for n in free if own[n].shape == state[name].shape)
                    free.remove(place)
                    places[name] = place
                    loaded.add(place)
            elif free and sum(len(state[n]) for n in wanted) == sum(len(own[n]) for n in free):
                rows = torch.cat([state[n] for n in wanted])
                for name, part in zip(free, rows.split([len(own[n]) for n in free]), strict=True):
                    own[name].copy_(part)
                loaded.update(free)
        for name, place in places.items():
            own[place].copy_(state[name])
        rest = {name: value for name, value in own.items() if name not in loaded}
        for name, value in rest.items():
            if _is_bias(name):
                value.zero_()  # the reference has no such parameter
    _fill({name: value for name, value in rest.items() if not _is_bias(name)}, device)
    for name in state.keys() - places.keys():
        layer, _, last = places.get(f"{name.removesuffix('bias')}weight", "").rpartition(".")
        if _is_bias(name) and last and getattr(module.get_submodule(layer), "bias", 0) is None:
            module.get_submodule(layer).bias = nn.Parameter(state[name].clone())
            places[name] = f"{layer}.bias".lstrip(".")
    found = dict(module.named_parameters())
    vars(module)[_FITTED] = {n: found[place] for n, place in places.items() if place in found}


def float_parameters(module: nn.Module) -> list[torch.Tensor]:
    """Return a module's parameters, sorted by the names of the weights that they were loaded from.

    Parameters without a counterpart in these weights are omitted.
    """
    named = vars(module).get(_FITTED) or dict(module.named_parameters())
    return [named[name] for name in sorted(named) if named[name].is_floating_point()]


def _is_bias(name: str) -> bool:
    return name.rpartition(".")[2] == "bias"


def _kind(name: str, value: torch.Tensor) -> tuple[bool, int, torch.Size]:
    """Describe parameters that can be loaded from each other's rows."""
    return _is_bias(name), value.dim(), value.shape[1:]


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
