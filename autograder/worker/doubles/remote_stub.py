"""Replace wrong exercises of a submission by stubs that call a correct one in the trusted process.

Theory of operation. An exercise that calls a wrong one can still be tested if the correct one
answers instead. The correct code never enters this process: each call goes to the trusted process
as plain data, and the answer includes gradients.

A submission may have bound its function or class anywhere: under a second name, as a default, in a
subclass. So functions and classes that the submission defines are changed in place. A library's
functions have other callers, so only their names in the submission's module are replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from ..protocol import frames
from .module_stub import ModuleStub
from .stub_call import Ask, call_reference
from .stub_names import ParameterNames


def install_stubs(module: Any, stubs: Iterable[frames.Stub], ask: Ask) -> None:
    """Replace exercises of a loaded module by stubs."""
    for one in stubs:
        existing = getattr(module, one.name, None)
        if one.making is None:
            names = ParameterNames.read(existing, one.parameters)
            FunctionStub(one.name, names, ask).install(module, existing)
        else:
            init, forward = (getattr(existing, n, None) for n in ("__init__", "forward"))
            init_names = ParameterNames.read(init, one.making)
            forward_names = ParameterNames.read(forward, ("self", *one.parameters))
            ModuleStub(one.name, init_names, forward_names, ask).install(module, existing)


@dataclass(frozen=True)
class FunctionStub:
    """A stub for a function: the trusted process answers its calls."""

    name: str
    names: ParameterNames
    ask: Ask

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        args, kwargs, dropped = self.names.translated(args, kwargs)
        call = frames.StubCall(self.name, dropped=dropped)
        return call_reference(call, args, kwargs, [], self.ask)

    def install(self, module: Any, existing: Any) -> None:
        """Replace a function of a loaded module, in place if the submission defines it there."""
        is_defined_here = isinstance(existing, FunctionType) and existing.__globals__ is vars(
            module
        )
        if is_defined_here and not existing.__code__.co_freevars:
            existing.__code__ = _shim.__code__
            existing.__defaults__, existing.__kwdefaults__ = None, {"_stub": self}
            return

        def call(*args: Any, **kwargs: Any) -> Any:
            return self(args, kwargs)

        call.__name__ = call.__qualname__ = self.name
        if existing is not None:
            _replace_references(module, existing, call)
        setattr(module, self.name, call)


def _shim(*args: Any, _stub: Any = None, **kwargs: Any) -> Any:
    return _stub(args, kwargs)


def _replace_references(module: Any, existing: Any, call: Callable[..., Any]) -> None:
    """Replace a function in a module's names, dicts and lists, and in default arguments."""
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
