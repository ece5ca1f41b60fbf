"""Call a correct exercise in the trusted process, with arguments and results as plain data.

In a backward pass, the call is sent again with cotangents, and the trusted process returns the
gradients with respect to the inputs.
"""

import builtins
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
import torch
from torch.utils._pytree import tree_map_only

from .protocol import frames
from .protocol.values import FAKE_DEVICE, Decoder, Encoder
from .torch_support.devices import tensors_in

# Sends a call and its buffers to the trusted process, and returns the reply with its buffers.
Ask = Callable[[frames.StubCall, list[bytes]], tuple[frames.Reply, list[memoryview]]]
Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def new_encoder(buffers: Sequence[bytes] = ()) -> Encoder:
    """Return an encoder for arguments. `buffers`: buffers of values that are already encoded."""
    return Encoder(special=_special, buffers=list(buffers))


def encoded_arguments(
    encoder: Encoder, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[frames.Value, ...], dict[str, frames.Value]]:
    return tuple(encoder(a) for a in args), {k: encoder(v) for k, v in kwargs.items()}


def answer_to(
    ask: Ask, call: frames.StubCall, encoder: Encoder
) -> tuple[frames.Reply, list[memoryview]]:
    """Send a call and return the reply with its buffers; raise the exception that it reports."""
    reply, buffers = ask(call, encoder.buffers)
    if reply.status != "ok":
        raise _error(reply.raised)
    return reply, buffers


def call_reference(
    call: frames.StubCall,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    trained: list[torch.Tensor],
    ask: Ask,
    *,
    making: Arguments | None = None,
    weights: dict[str, torch.Tensor] | None = None,
) -> Any:
    """Return the correct exercise's result, through which autograd can differentiate.

    trained: parameters that need gradients in addition to the arguments
    making:  constructor arguments if the exercise is a class, otherwise None
    weights: parameters and buffers of the object if the exercise is a class, otherwise None
    """
    inputs = [*_floats(args, kwargs), *trained]
    given = [*args, *kwargs.values()]
    device = _device_of(tensors_in([*given, *(weights or {}).values()]))
    device = device or next((a for a in given if isinstance(a, torch.device)), None)
    differentiable = torch.is_grad_enabled() and any(x.requires_grad for x in inputs)

    # The backward pass reuses the encoded arguments, because tensors may change after the call.
    encoder = new_encoder()
    positional, named = encoded_arguments(encoder, args, kwargs)
    draws = making is not None and call.training
    call = msgspec.structs.replace(
        call,
        args=positional,
        kwargs=named,
        making=encoded_arguments(encoder, *making) if making is not None else None,
        state=encoder(weights) if weights is not None else None,
        random=encoder(torch.random.get_rng_state()) if draws else None,
    )

    def send(cotangents: Sequence[torch.Tensor] | None) -> tuple[frames.Reply, list[memoryview]]:
        more = new_encoder(encoder.buffers)
        values = None if cotangents is None else tuple(map(more, cotangents))
        return answer_to(ask, msgspec.structs.replace(call, cotangents=values), more)

    # Empty cotangents request no gradients, only the indices of results that have no gradient.
    reply, buffers = send(() if differentiable else None)
    value = _moved(decoded(reply.value, buffers, call.random), device)
    outputs = _floats((value,), {})
    if not differentiable or not outputs or len(reply.detached) == len(outputs):
        return value

    def pull(cotangents: Sequence[torch.Tensor]) -> list[Any]:
        reply, buffers = send(cotangents)
        gradients = [decoded(g, buffers, None) for g in reply.gradients or ()]
        if len(gradients) != len(inputs):
            raise RuntimeError(f"the gradients of {call.helper} do not fit its inputs")
        return [_moved(g, device) for g in gradients]

    results: Any = _RemoteGradients.apply(pull, reply.detached, outputs, *inputs)  # type: ignore[no-untyped-call]  # untyped in torch
    replaced = dict(zip(map(id, outputs), results, strict=True))
    return tree_map_only(torch.Tensor, lambda x: replaced.get(id(x), x), value)


class _RemoteGradients(torch.autograd.Function):
    """Copies the outputs; the backward pass requests gradients from the trusted process."""

    @staticmethod
    def forward(
        ctx: Any,
        pull: Callable[[Sequence[torch.Tensor]], list[torch.Tensor | None]],
        detached: tuple[int, ...],
        outputs: list[torch.Tensor],
        *inputs: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        ctx.pull = pull
        results = tuple(y.clone() for y in outputs)
        ctx.mark_non_differentiable(*(results[i] for i in detached if i < len(results)))
        return results

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        return (None, None, None, *ctx.pull(cotangents))


def decoded(value: frames.Value, buffers: list[memoryview], random: frames.Value) -> Any:
    """Decode a reply's value.

    random: state of torch's random generator that was sent with the call, or None. With a state,
            the value is a pair of the result and the new state, to which the generator is set
    """
    result = Decoder(buffers)(value)
    if random is None:
        return result
    result, state = result
    torch.random.set_rng_state(state)
    return result


def _device_of(tensors: Iterable[torch.Tensor]) -> torch.device | None:
    """Return the device of the tensors that have at least one axis, or None if there are none.

    Raises RuntimeError with torch's message if these tensors are on different devices.
    """
    found = {x.device for x in tensors if x.ndim > 0}
    if len(found) > 1:
        one, other = sorted(map(str, found), key=lambda name: name == "cpu")[:2]
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"{one} and {other}!"
        )
    return found.pop() if found else None


def _moved(value: Any, device: torch.device | None) -> Any:
    if device is None or device.type == "cpu":
        return value
    return tree_map_only(torch.Tensor, lambda x: x.to(device), value)


def _floats(args: Any, kwargs: Any) -> list[torch.Tensor]:
    """Return the distinct float tensors in a call, in the order in which they are decoded."""
    tensors = tensors_in([*args, *kwargs.values()])
    return list({id(x): x for x in tensors if x.is_floating_point()}.values())


def _special(thing: object, _: Encoder) -> frames.Value | None:
    if isinstance(thing, torch.device):
        return frames.SpecialV("device", "cpu" if thing.type == FAKE_DEVICE else str(thing))
    if isinstance(thing, torch.dtype):
        return frames.SpecialV("dtype", str(thing).removeprefix("torch."))
    return None


def _error(raised: frames.Raised | None) -> Exception:
    if raised is None:
        return RuntimeError("the correct exercise gave no answer")
    for name in (raised.type, *raised.bases):
        kind = getattr(builtins, name, None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            return kind(raised.message)
    return RuntimeError(raised.message)
