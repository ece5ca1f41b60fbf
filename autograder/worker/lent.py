"""Right exercises in the place of a submission's wrong ones: calls that cross the wire.

Theory of operation. An exercise that calls a wrong one can be tried all the same if a right one
answers in its stead. That one never comes here: each call of it goes to the trusted process as
plain data, and its answer comes back. Gradients cross too: the backward pass of a lent call asks
for the pulled-back gradients of the same call. A torch module is lent in the same way: its weights
rest here, and travel with each call, as does the state of torch's generator where it may draw.

A submission may have bound its own function or class anywhere: by another name, as a default, in a
subclass. So these are changed in place where Python lets them; but not what is a library's, which
others call too: of that only the names in the module are.
"""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any, NamedTuple

import msgspec
import torch
from torch import nn

from . import wire
from .backward import tensors_in
from .values import FAKE_DEVICE, TORCH_NAMES, Decoder, Encoder

# What answers a question: the trusted process.
Asks = Callable[[wire.LentCall, list[bytes]], tuple[wire.Reply, list[memoryview]]]
_Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def lend(module: Any, lent: Iterable[wire.Lent], asks: Asks) -> None:
    """Put the lent exercises into the place of a loaded module's own."""
    for one in lent:
        own = getattr(module, one.name, None)
        if one.making is None:
            _lend_function(module, own, _LentFunction(one.name, _Names.of(own, one), asks))
        else:
            init, forward = (getattr(own, n, None) for n in ("__init__", "forward"))
            names = _Names.of(init, one.making), _Names.of(forward, ("self", *one.parameters))
            _lend_class(module, own, _LentClass(one.name, *names, asks))


def _lend_function(module: Any, own: Any, lent: _LentFunction) -> None:
    is_own = isinstance(own, FunctionType) and own.__globals__ is vars(module)
    if is_own and not own.__code__.co_freevars:
        own.__code__ = _shim.__code__
        own.__defaults__, own.__kwdefaults__ = None, {"_lent": lent}
        return

    def call(*args: Any, **kwargs: Any) -> Any:
        return lent(args, kwargs)

    call.__name__ = call.__qualname__ = lent.name
    if own is not None:
        _exchange(module, own, call)
    setattr(module, lent.name, call)


def _shim(*args: Any, _lent: Any = None, **kwargs: Any) -> Any:
    return _lent(args, kwargs)


def _exchange(module: Any, own: Any, call: Callable[..., Any]) -> None:
    """What cannot be changed in place: other names of it, in tables and as a default too."""
    for name, value in list(vars(module).items()):
        if value is own:
            setattr(module, name, call)
        elif type(value) is dict:
            value.update({k: call for k, v in value.items() if v is own})
        elif type(value) is list:
            value[:] = [call if v is own else v for v in value]
        inside = vars(value).values() if isinstance(value, type) else ()
        for function in (value, *inside):
            if isinstance(function, FunctionType):
                given = function.__defaults__
                if given is not None and any(d is own for d in given):
                    function.__defaults__ = tuple(call if d is own else d for d in given)


def _lend_class(module: Any, own: Any, lent: _LentClass) -> None:
    is_class = isinstance(own, type) and issubclass(own, nn.Module)
    is_own = is_class and own.__module__ == module.__name__
    first: Any = own.__init__ if is_own else None

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        nn.Module.__init__(self)
        lent.make(self, args, kwargs, first)

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        return lent.call(self, args, kwargs)

    if is_own:
        own.__init__, own.forward = __init__, forward
    else:
        methods = {"__init__": __init__, "forward": forward, "__module__": module.__name__}
        setattr(module, lent.name, type(lent.name, (nn.Module,), methods))


class _Translated(NamedTuple):
    """Arguments for a right exercise. `dropped`: whether it has no parameter for one of them."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    dropped: bool


@dataclass(frozen=True)
class _Names:
    """The names of parameters, as a submission's own has them and a right one.

    defaults: those of the submission's own
    """

    right: tuple[str, ...]
    own: tuple[str, ...]
    defaults: Mapping[str, Any]

    @classmethod
    def of(cls, own: Any, right: tuple[str, ...] | wire.Lent) -> _Names:
        names = right.parameters if isinstance(right, wire.Lent) else right
        try:
            parameters = inspect.signature(own).parameters
        except (TypeError, ValueError):
            return cls(names, (), {})
        return cls(names, tuple(parameters), {n: p.default for n, p in parameters.items()})

    def translated(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], bound: int = 0
    ) -> _Translated:
        """Arguments for a right one: by its names, and without those that only the own one has.

        bound: how many of the first parameters are not among the arguments
        """
        most = len(self.right) - bound if len(self.own) > len(self.right) else len(args)
        if set(self.right) <= set(self.own) and self.own[: len(self.right)] != self.right:
            most = 0  # they are in another order
        kwargs = {**dict(zip(self.own[bound + most :], args[most:], strict=False)), **kwargs}
        same = dict(zip(self.own, self.right, strict=False))
        named, dropped = dict[str, Any](), False
        for name, value in kwargs.items():
            if name in self.right or name not in self.own:
                named[name] = value
            elif (right := same.get(name)) is not None and right not in self.own:
                named[right] = value
            else:
                dropped |= not self._is_default(name, value)
        return _Translated(args[:most], named, dropped)

    def _is_default(self, name: str, value: Any) -> bool:
        default = self.defaults.get(name)
        plain = isinstance(value, (bool, int, float, str))
        return value is default or (plain and type(value) is type(default) and value == default)


@dataclass(frozen=True)
class _LentFunction:
    name: str
    names: _Names
    asks: Asks

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        args, kwargs, dropped = self.names.translated(args, kwargs)
        return _answer(wire.LentCall(self.name, dropped=dropped), args, kwargs, [], self.asks)


@dataclass(frozen=True)
class _LentClass:
    """A class of torch modules: what they are made of stays here, what they compute does not."""

    name: str
    init: _Names
    forward: _Names
    asks: Asks

    def make(
        self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], own: Any
    ) -> None:
        """Give a new module the layers, weights and sizes that a right one has.

        own: the submission's `__init__`, whose sizes have names of its own
        """
        kept = _sizes(module, own, args, kwargs)
        args, kwargs, dropped = self.init.translated(args, kwargs, bound=1)
        object.__setattr__(module, "_lent_made", (args, kwargs))
        device = torch.get_default_device()
        with torch.device("cpu"):
            sending = _Sending()
            question = wire.LentCall(
                self.name,
                making=sending.arguments(args, kwargs),
                called=False,
                random=sending.state() if device.type == "cpu" else None,
                dropped=dropped,
            )
            layers, weights, sizes = sending.answer(self.asks, question)
        for name, value in {**sizes, **kept}.items():
            object.__setattr__(module, name, value)
        object.__setattr__(module, "_lent_weights", tuple(name for name, *_ in weights))
        kinds = dict(layers)
        for name, drawn, trained in weights:
            value = drawn if device.type == "cpu" else drawn.to(device)  # where none are drawn
            path, _, last = name.rpartition(".")
            holder = _holder(module, path, kinds)
            if trained:
                holder.register_parameter(last, nn.Parameter(value))
            else:
                holder.register_buffer(last, value)

    def call(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        held: Any = module
        made, names = held._lent_made, held._lent_weights
        args, kwargs, dropped = self.forward.translated(args, kwargs, bound=1)
        state = {name: _found(module, name) for name in names}
        trained = [x for _, x in sorted(state.items()) if x.is_floating_point()]
        trained = [x for x in trained if isinstance(x, nn.Parameter)]
        question = wire.LentCall(
            self.name,
            training=module.training,
            dropped=dropped,
            dtype=TORCH_NAMES[trained[0].dtype] if trained else None,
        )
        return _answer(question, args, kwargs, trained, self.asks, made=made, weights=state)


def plain_attributes(module: nn.Module) -> dict[str, Any]:
    """The sizes and settings that a module keeps under public names."""
    plain = (int, float, str, type(None))
    found = {k: v for k, v in vars(module).items() if isinstance(v, plain)}
    return {k: v for k, v in found.items() if not k.startswith("_") and k != "training"}


def _sizes(
    module: nn.Module, own: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The plain attributes that a submission's own `__init__` sets; it leaves nothing else."""
    if own is None:
        return {}
    before = torch.random.get_rng_state()
    try:
        own(module, *args, **kwargs)
        found = plain_attributes(module)
    except Exception:  # it may be what is wrong
        found = {}
    torch.random.set_rng_state(before)
    for name in list(vars(module)):
        object.__delattr__(module, name)
    nn.Module.__init__(module)
    return found


# Layers that say all of themselves by the shape of their weights: a subclass may call them.
LAYERS: dict[str, tuple[type[nn.Module], Callable[[Any], dict[str, Any]]]] = {
    "Linear": (nn.Linear, lambda shape: {"in_features": shape[1], "out_features": shape[0]}),
    "LayerNorm": (
        nn.LayerNorm,
        lambda shape: {"normalized_shape": tuple(shape), "eps": 1e-5, "elementwise_affine": True},
    ),
    "Embedding": (
        nn.Embedding,
        lambda shape: {
            **{"num_embeddings": shape[0], "embedding_dim": shape[1], "padding_idx": None},
            **{"max_norm": None, "norm_type": 2.0, "scale_grad_by_freq": False, "sparse": False},
        },
    ),
}


def _layer(kind: str, shape: tuple[int, ...]) -> nn.Module:
    """A layer without weights; torch's own way would draw some."""
    made, described = LAYERS[kind]
    layer = made.__new__(made)
    nn.Module.__init__(layer)
    vars(layer).update(described(shape))
    for name in ("weight", "bias"):
        layer.register_parameter(name, None)
    return layer


def _holder(module: nn.Module, path: str, kinds: dict[str, Any]) -> nn.Module:
    """The part of a module at that path, made where there is none."""
    held, passed = module, list[str]()
    for part in filter(None, path.split(".")):
        passed.append(part)
        if not isinstance(getattr(held, part, None), nn.Module):
            kind = kinds.get(".".join(passed))
            held.add_module(part, _layer(*kind) if kind else nn.Module())
        held = getattr(held, part)
    return held


def _found(module: nn.Module, name: str) -> torch.Tensor:
    path, _, last = name.rpartition(".")
    holder = module.get_submodule(path)
    found: torch.Tensor = getattr(holder, last)
    return found


class _Sending:
    """What one question sends, and what its answer is made of."""

    def __init__(self, before: _Sending | None = None) -> None:
        known: list[bytes] = [] if before is None else list(before.encoder.buffers)
        self.encoder: Encoder = Encoder(special=_special, buffers=known)

    def arguments(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[wire.Value, ...], dict[str, wire.Value]]:
        return tuple(self.encoder(a) for a in args), {k: self.encoder(v) for k, v in kwargs.items()}

    def state(self) -> wire.Value:
        return self.encoder(torch.random.get_rng_state())

    def answer(self, asks: Asks, question: wire.LentCall) -> Any:
        reply, buffers = self.reply(asks, question)
        return _decoded(reply.value, buffers, question.random)

    def reply(self, asks: Asks, question: wire.LentCall) -> tuple[wire.Reply, list[memoryview]]:
        reply, buffers = asks(question, self.encoder.buffers)
        if reply.status != "ok":
            raise _error(reply.raised)
        return reply, buffers


def _answer(
    question: wire.LentCall,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    trained: list[torch.Tensor],
    asks: Asks,
    *,
    made: _Arguments | None = None,
    weights: dict[str, torch.Tensor] | None = None,
) -> Any:
    """What a right exercise answers to these arguments, and what its gradients are."""
    inputs = [*_floats(args, kwargs), *trained]
    everything = tensors_in([*args, *kwargs.values(), *(weights or {}).values()])
    device = _device_of(everything)
    wanted = torch.is_grad_enabled() and any(x.requires_grad for x in inputs)
    drawn = made is not None and question.training

    # what was sent once is sent again for gradients: arguments may be changed after the call
    sending = _Sending()
    positional, named = sending.arguments(args, kwargs)
    question = msgspec.structs.replace(
        question,
        args=positional,
        kwargs=named,
        making=sending.arguments(*made) if made is not None else None,
        state=sending.encoder(weights) if weights is not None else None,
        random=sending.state() if drawn else None,
    )

    def sent(
        cotangents: Sequence[torch.Tensor] | None,
    ) -> tuple[wire.Reply, list[memoryview]]:
        more = _Sending(sending)
        pulled = None if cotangents is None else tuple(map(more.encoder, cotangents))
        return more.reply(asks, msgspec.structs.replace(question, cotangents=pulled))

    # Cotangents for no result are asked for first: the reply says what carries a gradient.
    reply, buffers = sent(() if wanted else None)
    value = _placed(_decoded(reply.value, buffers, question.random), device)
    outputs = _floats((value,), {})
    if not wanted or not outputs or len(reply.detached) == len(outputs):
        return value

    def pull(cotangents: Sequence[torch.Tensor]) -> list[Any]:
        reply, buffers = sent(cotangents)
        gradients = [_decoded(g, buffers, None) for g in reply.gradients or ()]
        if len(gradients) != len(inputs):
            raise RuntimeError(f"the gradients of {question.helper} do not fit")
        return [_placed(g, device) for g in gradients]

    results = _PulledBack.apply(pull, reply.detached, outputs, *inputs)  # type: ignore[no-untyped-call]  # torch's
    return _with(value, dict(zip(map(id, outputs), results, strict=True)))


class _PulledBack(torch.autograd.Function):
    """Results that came from elsewhere, whose gradients are asked for there."""

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


def _decoded(value: wire.Value, buffers: list[memoryview], random: wire.Value) -> Any:
    """The value of an answer; of a pair with the generator's state, which is taken on."""
    decoded = Decoder(buffers)(value)
    if random is None:
        return decoded
    decoded, state = decoded
    torch.random.set_rng_state(state)
    return decoded


def _device_of(tensors: Iterable[torch.Tensor]) -> torch.device | None:
    """Where all these are; numbers without axes go with any. None: there are none."""
    found = {x.device for x in tensors if x.ndim > 0}
    if len(found) > 1:
        one, other = sorted(map(str, found), key=lambda name: name == "cpu")[:2]
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"{one} and {other}!"
        )
    return found.pop() if found else None


def _placed(value: Any, device: torch.device | None) -> Any:
    """The value with its tensors on the device."""
    if device is None or device.type == "cpu":
        return value
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, (tuple, list)):
        return type(value)(_placed(v, device) for v in value)
    return {k: _placed(v, device) for k, v in value.items()} if isinstance(value, dict) else value


def _floats(args: Any, kwargs: Any) -> list[torch.Tensor]:
    """The float tensors of a call in the order in which they are decoded, each once."""
    found: dict[int, torch.Tensor] = {}
    for x in tensors_in([*args, *kwargs.values()]):
        if x.is_floating_point():
            found.setdefault(id(x), x)
    return list(found.values())


def _with(value: Any, results: dict[int, torch.Tensor]) -> Any:
    """The value with its tensors exchanged, by identity."""
    if isinstance(value, torch.Tensor):
        return results.get(id(value), value)
    if isinstance(value, (tuple, list)):
        return type(value)(_with(v, results) for v in value)
    if isinstance(value, dict):
        return {k: _with(v, results) for k, v in value.items()}
    return value


def _special(thing: object, _: Encoder) -> wire.Value | None:
    if isinstance(thing, torch.device):
        return wire.SpecialV("device", "cpu" if thing.type == FAKE_DEVICE else str(thing))
    if isinstance(thing, torch.dtype):
        return wire.SpecialV("dtype", str(thing).removeprefix("torch."))
    return None


def _error(raised: wire.Raised | None) -> Exception:
    """The exception that a right exercise raised, as one of Python's own."""
    if raised is None:
        return RuntimeError("a lent exercise gave no answer")
    for name in (raised.type, *raised.bases):
        kind = getattr(builtins, name, None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            return kind(raised.message)
    return RuntimeError(raised.message)
