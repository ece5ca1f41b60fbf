"""Replace wrong exercises in a submission with stubs that call a correct version remotely.

Theory of operation. If an exercise calls a wrong helper, the exercise can still be tested with a
correct helper. The correct code never enters this process: a stub sends each call to the trusted
process as plain data, and receives the result and, in a backward pass, the gradients.

A submission may refer to a replaced function or class by other names, in default arguments or as a
base class. Functions and classes that the submission defines are therefore modified in place.
Library functions have other callers, so only the references in the submission's module are
replaced.

A stub for a torch module has the layers, weights and plain attributes (such as sizes) of the
correct module, so the submission can use it like the class that it replaces. The weights stay in
this process and are sent with every call, and `forward` runs in the trusted process.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from types import FunctionType
from typing import Any, Self

import torch
from torch import nn

from .protocol import frames
from .protocol.values import TORCH_NAMES
from .stub_call import Ask, answer_to, call_reference, decoded, encoded_arguments, new_encoder


@dataclass(frozen=True)
class ParameterNames:
    """Parameter names of an exercise.

    correct:   names in the correct version
    submitted: names in the submission, or () if the function's signature cannot be read
    defaults:  default values in the submission, or `inspect.Parameter.empty`, by parameter name
    """

    correct: tuple[str, ...]
    submitted: tuple[str, ...]
    defaults: Mapping[str, Any]

    @classmethod
    def read(cls, function: Any, correct: tuple[str, ...]) -> Self:
        """Read the submission's parameter names and defaults from its function."""
        try:
            parameters = inspect.signature(function).parameters
        except (TypeError, ValueError):
            return cls(correct, (), {})
        return cls(correct, tuple(parameters), {n: p.default for n, p in parameters.items()})

    def translated(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], bound: int = 0
    ) -> tuple[tuple[Any, ...], dict[str, Any], bool]:
        """Map a call's arguments to the correct parameter names.

        bound: number of leading parameters that are already bound, such as `self`

        Returns positional arguments, keyword arguments, and whether an argument was dropped because
        the correct version has no parameter for it. Arguments equal to their default do not count.
        """
        by_position = len(args)
        if len(self.submitted) > len(self.correct):
            by_position = len(self.correct) - bound
        in_order = self.submitted[: len(self.correct)] == self.correct
        if set(self.correct) <= set(self.submitted) and not in_order:
            by_position = 0
        names = self.submitted[bound + by_position :]
        kwargs = {**dict(zip(names, args[by_position:], strict=False)), **kwargs}
        same = dict(zip(self.submitted, self.correct, strict=False))
        named, dropped = dict[str, Any](), False
        for name, value in kwargs.items():
            if name in self.correct or name not in self.submitted:
                named[name] = value
            elif (right := same.get(name)) is not None and right not in self.submitted:
                named[right] = value
            else:
                dropped |= not self._is_default(name, value)
        return args[:by_position], named, dropped

    def _is_default(self, name: str, value: Any) -> bool:
        default = self.defaults.get(name)
        plain = isinstance(value, (bool, int, float, str))
        return value is default or (plain and type(value) is type(default) and value == default)


def install_stubs(module: Any, stubs: Iterable[frames.Stub], ask: Ask) -> None:
    """Replace exercises in a loaded module with stubs."""
    for one in stubs:
        existing = getattr(module, one.name, None)
        if one.making is None:
            names = ParameterNames.read(existing, one.parameters)
            _install_function(module, existing, one.name, names, ask)
        else:
            init, forward = (getattr(existing, n, None) for n in ("__init__", "forward"))
            init_names = ParameterNames.read(init, one.making)
            forward_names = ParameterNames.read(forward, ("self", *one.parameters))
            ModuleStub(one.name, init_names, forward_names, ask).install(module, existing)


def _install_function(
    module: Any, existing: Any, name: str, names: ParameterNames, ask: Ask
) -> None:
    """Replace a function with a stub, in place if `module` defines it and it is not a closure."""

    def stub(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        args, kwargs, dropped = names.translated(args, kwargs)
        return call_reference(frames.StubCall(name, dropped=dropped), args, kwargs, [], ask)

    is_function = isinstance(existing, FunctionType)
    is_defined_here = is_function and existing.__globals__ is vars(module)
    if is_defined_here and not existing.__code__.co_freevars:
        existing.__code__ = _shim.__code__
        existing.__defaults__, existing.__kwdefaults__ = None, {"_stub": stub}
        return

    def call(*args: Any, **kwargs: Any) -> Any:
        return stub(args, kwargs)

    call.__name__ = call.__qualname__ = name
    if existing is not None:
        _replace_references(module, existing, call)
    setattr(module, name, call)


def _shim(*args: Any, _stub: Any = None, **kwargs: Any) -> Any:
    return _stub(args, kwargs)


def _replace_references(module: Any, existing: Any, call: Callable[..., Any]) -> None:
    """Replace a function in a module's globals, global dicts and lists, and default arguments."""
    for name, value in list(vars(module).items()):
        if value is existing:
            setattr(module, name, call)
        elif type(value) is dict:
            value.update({k: call for k, v in value.items() if v is existing})
        elif type(value) is list:
            value[:] = [call if v is existing else v for v in value]
        inside = vars(value).values() if isinstance(value, type) else ()
        for function in (value, *inside):
            if isinstance(function, FunctionType) and function.__defaults__ is not None:
                defaults = function.__defaults__
                if any(d is existing for d in defaults):
                    function.__defaults__ = tuple(call if d is existing else d for d in defaults)


@dataclass(frozen=True)
class ModuleStub:
    """Replaces a torch module class with one that has the correct layers and a remote `forward`."""

    name: str
    init: ParameterNames
    forward: ParameterNames
    ask: Ask

    def install(self, module: Any, existing: Any) -> None:
        """Replace the class in a loaded module, in place if the submission defines the class."""
        is_class = isinstance(existing, type) and issubclass(existing, nn.Module)
        is_defined_here = is_class and existing.__module__ == module.__name__
        first: Any = existing.__init__ if is_defined_here else None
        stub = self

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            nn.Module.__init__(self)
            stub._make(self, args, kwargs, first)

        def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
            return stub._call(self, args, kwargs)

        if is_defined_here:
            existing.__init__, existing.forward = __init__, forward
        else:
            methods = {"__init__": __init__, "forward": forward, "__module__": module.__name__}
            setattr(module, self.name, type(self.name, (nn.Module,), methods))

    def _make(
        self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], first: Any
    ) -> None:
        """Add the layers, weights and sizes of the correct class to a new module.

        first: the submission's `__init__`, which may store sizes under different names, or None if
               the submission does not define the class
        """
        sizes_of_submission = _sizes(module, first, args, kwargs)
        args, kwargs, dropped = self.init.translated(args, kwargs, bound=1)
        object.__setattr__(module, "_stub_arguments", (args, kwargs))
        device = torch.get_default_device()
        with torch.device("cpu"):
            encoder = new_encoder()
            call = frames.StubCall(
                self.name,
                making=encoded_arguments(encoder, args, kwargs),
                called=False,
                random=encoder(torch.random.get_rng_state()) if device.type == "cpu" else None,
                dropped=dropped,
            )
            reply, buffers = answer_to(self.ask, call, encoder)
            layers, weights, sizes = decoded(reply.value, buffers, call.random)
        for name, value in {**sizes, **sizes_of_submission}.items():
            object.__setattr__(module, name, value)
        object.__setattr__(module, "_stub_weights", tuple(name for name, *_ in weights))
        kinds = dict(layers)
        for name, drawn, trained in weights:
            value = drawn if device.type == "cpu" else drawn.to(device)
            path, _, last = name.rpartition(".")
            holder = _submodule(module, path, kinds)
            if trained:
                holder.register_parameter(last, nn.Parameter(value))
            else:
                holder.register_buffer(last, value)

    def _call(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        args, kwargs, dropped = self.forward.translated(args, kwargs, bound=1)
        state = {name: attrgetter(name)(module) for name in module._stub_weights}
        trained: list[torch.Tensor] = [
            x
            for _, x in sorted(state.items())
            if x.is_floating_point() and isinstance(x, nn.Parameter)
        ]
        call = frames.StubCall(
            self.name,
            training=module.training,
            dropped=dropped,
            dtype=TORCH_NAMES[trained[0].dtype] if trained else None,
        )
        making = module._stub_arguments
        return call_reference(call, args, kwargs, trained, self.ask, making=making, weights=state)


def plain_attributes(module: nn.Module) -> dict[str, Any]:
    """Return public attributes that are numbers, strings or None, except `training`, by name."""
    plain = (int, float, str, type(None))
    found = {k: v for k, v in vars(module).items() if isinstance(v, plain)}
    return {k: v for k, v in found.items() if not k.startswith("_") and k != "training"}


def _sizes(
    module: nn.Module, init: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """Return the plain attributes that `init` sets, or {} if it fails, and reset the module."""
    if init is None:
        return {}
    before = torch.random.get_rng_state()
    try:
        init(module, *args, **kwargs)
        found = plain_attributes(module)
    except Exception:  # the submission's `__init__` may be wrong
        found = {}
    torch.random.set_rng_state(before)
    for name in list(vars(module)):
        object.__delattr__(module, name)
    nn.Module.__init__(module)
    return found


# Layers are built from weight shapes, because subclasses in the submission may call them. The meta
# device avoids drawing values. Without `_weight`, nn.Embedding would import torch's decompositions.
LAYERS: dict[type[nn.Module], Callable[[Any], nn.Module]] = {
    nn.Linear: lambda shape: nn.Linear(shape[1], shape[0], device="meta"),
    nn.LayerNorm: lambda shape: nn.LayerNorm(shape, device="meta"),
    nn.Embedding: lambda shape: nn.Embedding(
        shape[0], shape[1], _weight=torch.empty(shape, device="meta")
    ),
}


def _layer(kind: str, shape: tuple[int, ...]) -> nn.Module:
    """Return a `torch.nn` layer whose weight and bias are None; `kind` is the name of its class."""
    layer = LAYERS[getattr(nn, kind)](shape)
    for name in ("weight", "bias"):
        layer.register_parameter(name, None)
    return layer


def _submodule(module: nn.Module, path: str, kinds: dict[str, Any]) -> nn.Module:
    current, passed = module, list[str]()
    for part in filter(None, path.split(".")):
        passed.append(part)
        if not isinstance(getattr(current, part, None), nn.Module):
            kind = kinds.get(".".join(passed))
            current.add_module(part, _layer(*kind) if kind else nn.Module())
        current = getattr(current, part)
    return current
