"""Functions that torch and other libraries compose in Python: they are made to say that they run.

Theory of operation. References and decompositions have no kernel. Their code is replaced, not their
name, so that whoever holds the function, in whatever table, runs the code that notes; in modules
that are imported later too. The grading sets this net below student code (`nets.py`), and `check`
sets it too, so that what grading refuses is said first.
"""

from __future__ import annotations

import fnmatch
import inspect
import re
import sys
import types
from collections.abc import Callable
from functools import cache
from importlib.machinery import ModuleSpec
from typing import Any

from .names import any_of, matches

Note = Callable[[str, bool], None]

# Whose functions in Python are looked at as they are imported; of what is there, these modules.
_LIBRARIES = ("torch", "functorch", "scipy", "numpy", "keras", "transformers", "einops")
_PYTHON = (
    *("torch.nn.functional", "torch.masked._ops", "torch._refs", "torch._refs.special"),
    *("torch._refs.nn.functional", "torch._decomp.decompositions", "scipy.special._logsumexp"),
    "torch.distributions.transforms",
)
# Methods of a class that compute nothing: they build it, describe it and print it.
_DESCRIBING = ("build", "get_config", "from_config", "extra_repr", "reset_parameters", "compute_*")
# Where what is named is composed of other operators: a trace of it holds no name.
_COMPOSED = ("torch._", "torch.distributions.")
_TABLES = ("decomposition_table", "pre_autograd_decomposition_table", "meta_table")


def watch_functions(
    patterns: tuple[str, ...],
    note: Note,
    on_import: Callable[[types.ModuleType], None] = lambda module: None,
) -> None:
    """Note the calls that a pattern names, of what libraries hold now and of what comes later.

    A process has one such net: whoever sets it later is told from then on, of all patterns.
    """
    _later.note, _later.on_import = note, on_import
    dotted = _dotted(patterns)
    for name, module in list(sys.modules.items()):
        if name in _PYTHON or (dotted and dotted.match(f"{name}.")):
            _look_into(module, patterns)
    tables = sys.modules.get("torch._decomp")
    for table in _TABLES:
        for operator, function in getattr(tables, table, {}).items():
            name = getattr(operator, "__name__", "").split(".")[0]
            if matches(name, patterns):
                _replace_code(function, name)
    _later.patterns = tuple(dict.fromkeys((*_later.patterns, *patterns)))
    if _later not in sys.meta_path:
        sys.meta_path.insert(0, _later)


def all_patterns() -> tuple[str, ...]:
    """Whatever the net is set under."""
    return _later.patterns


def _look_into(module: types.ModuleType, patterns: tuple[str, ...]) -> None:
    """Replace the code of a module's functions, and of its classes, that a pattern names."""
    for name, value in list(vars(module).items()):
        if isinstance(value, type):
            noted = _noted_name(value, name, patterns)
            for method in _computing(value) if noted else ():
                _replace_code(method, noted)
            continue
        if not isinstance(value, types.FunctionType):
            # an operator that Python's `torch.library.custom_op` made holds its function
            value = getattr(value, "__dict__", {}).get("_init_fn")
        if isinstance(value, types.FunctionType) and (noted := _noted_name(value, name, patterns)):
            _replace_code(value, noted)


def _computing(owner: type) -> list[Any]:
    """Return the methods that a class defines, but for those that describe it."""

    def computes(name: str, method: Any) -> bool:
        if getattr(method, "__module__", None) != owner.__module__:  # an Enum holds one of `enum`
            return False
        describes = any(fnmatch.fnmatchcase(name, p) for p in ("__*", *_DESCRIBING))
        return name == "__call__" or not describes

    return [method for name, method in vars(owner).items() if computes(name, method)]


def _noted_name(value: Any, name: str, patterns: tuple[str, ...]) -> str:
    """Return the name by which a pattern means a function or a class, or "".

    A pattern with a dot means the full name, without its private parts.
    """
    dotted = _dotted(patterns)
    if dotted is not None:
        full = ".".join(p for p in f"{value.__module__}.{name}".split(".") if not p.startswith("_"))
        if dotted.match(full):
            return full
    names = (name, name.lower()) if isinstance(value, type) else (name,)  # softmax: Softmax too
    return next((n for n in names if matches(n, patterns)), "")


@cache
def _dotted(patterns: tuple[str, ...]) -> re.Pattern[str] | None:
    """Return what matches the full names that patterns mean, or None if all mean base names."""
    dotted = tuple(p for p in patterns if "." in p)
    return any_of(dotted) if dotted else None


def _replace_code(function: Any, name: str) -> None:
    """Have a function note its calls, and what it wraps, whoever holds it."""
    while function is not None:
        if isinstance(function, types.FunctionType) and not is_replaced(function):
            _replace_one(function, name)
        function = getattr(function, "__wrapped__", None)


def is_replaced(function: Any) -> bool:
    """Return whether its code was replaced by one that notes."""
    code = getattr(function, "__code__", None)
    return any(isinstance(constant, _Noting) for constant in getattr(code, "co_consts", None) or ())


class _Noting:
    """Stands for the code that a function had; a constant in the code that took its place.

    Constants are read from outside with ease, so what it stands for is kept elsewhere.
    """

    __slots__ = ("composed", "name")

    def __init__(self, function: types.FunctionType, name: str) -> None:
        self.name = name
        self.composed = str(function.__module__).startswith(_COMPOSED)
        call = types.FunctionType(
            function.__code__, function.__globals__, name, None, function.__closure__
        )
        call.__defaults__ = function.__defaults__
        call.__kwdefaults__ = function.__kwdefaults__
        _calls[self] = call

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        _later.note(self.name, self.composed)
        return _calls[self](*args, **kwargs)


_calls: dict[_Noting, types.FunctionType] = {}


def _replace_one(function: types.FunctionType, name: str) -> None:
    old = function.__code__
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return

    def template(*args: Any, **kwargs: Any) -> Any:
        call: Any = "the function"  # replaced below
        return call(*args, **kwargs)

    noting: Any = _Noting(function, name)
    code = template.__code__
    constants = tuple(noting if c == "the function" else c for c in code.co_consts)
    function.__code__ = code.replace(
        co_consts=constants,
        co_freevars=old.co_freevars,
        co_name=old.co_name,
        co_qualname=old.co_qualname,
        co_filename=old.co_filename,
        co_firstlineno=old.co_firstlineno,
    )
    if "__signature__" not in vars(function):
        function.__signature__ = signature  # type: ignore[attr-defined]  # what inspect reads


class _LaterImports:
    """A finder that has libraries' modules looked at once they are imported.

    note: is told of a call by its name, and whether what was called is composed of others
    """

    def __init__(self) -> None:
        self.patterns: tuple[str, ...] = ()
        self.note: Note = lambda name, composed: None
        self.on_import: Callable[[types.ModuleType], None] = lambda module: None

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name.partition(".")[0] not in _LIBRARIES:
            return None
        others = sys.meta_path[sys.meta_path.index(self) + 1 :]
        specs = (finder.find_spec(name, path, target) for finder in others)
        spec = next((spec for spec in specs if spec is not None), None)
        execute = getattr(spec and spec.loader, "exec_module", None)
        if spec is None or execute is None:
            return spec

        def exec_module(module: types.ModuleType) -> None:
            execute(module)
            _look_into(module, self.patterns)
            self.on_import(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign,union-attr]  # it has one
        return spec


_later = _LaterImports()
