"""Hooks that report calls of library functions under any name or alias.

Grading and `autograder check` use the same hooks, so that students see forbidden calls before they
submit. `operator_hooks` covers torch's operators, and the hooks in this module cover the rest:

- Python functions in `_LIBRARIES`, such as torch's references and decompositions. A hook replaces a
  function's code object, so that a call through any reference is reported. Modules imported later
  are hooked as well.
- NumPy's `logaddexp` and `logaddexp2`, which have no code object. A wrapper replaces them. NumPy's
  other ufuncs and functions in C are not reported, because Triton's interpreter uses `matmul`.
- torch's public functions. A torch function mode reports their calls (`function_mode`).

A process has one set of hooks, and the last caller of `hook_functions` receives all reports. This
module imports neither torch nor NumPy, because `check` also runs in weeks that do not use them.
"""

import fnmatch
import inspect
import re
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from importlib.machinery import ModuleSpec
from typing import Any

# Receives a function's base or dotted name, and whether operators with other names implement it.
Note = Callable[[str, bool], None]

# NumPy ufuncs that solve an exercise
_UFUNCS = ("logaddexp", "logaddexp2")
_NEVER = "(?!)"  # matches no name; an empty expression would match every name
# Libraries whose modules are hooked on import, and modules that are hooked if already imported.
_LIBRARIES = ("torch", "functorch", "scipy", "numpy", "keras", "transformers", "einops")
_PYTHON = (
    *("torch.nn.functional", "torch.masked._ops", "torch._refs", "torch._refs.special"),
    *("torch._refs.nn.functional", "torch._decomp.decompositions", "scipy.special._logsumexp"),
    "torch.distributions.transforms",
)
# Methods that build or describe an object but do not compute results.
_DESCRIBING = ("build", "get_config", "from_config", "extra_repr", "reset_parameters", "compute_*")
# Functions in these modules are composed of operators with different names.
_COMPOSED = ("torch._", "torch.distributions.")
_TABLES = ("decomposition_table", "pre_autograd_decomposition_table", "meta_table")


@lru_cache(maxsize=4096)
def matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Return True if a function's base name, unchanged or stripped (`plain`), matches a pattern."""
    expression = _any_of(patterns)
    return any(expression.match(n) for n in {name, plain(name)})


@cache
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Compile patterns into a single expression for speed: start-up matches thousands of names."""
    return re.compile("|".join(map(fnmatch.translate, patterns)) or _NEVER)


def plain(name: str) -> str:
    """Strip outer underscores and the prefixes `special_` and `safe_` from a function's name."""
    return name.rstrip("_").lstrip("_").removeprefix("special_").removeprefix("safe_")


def hook_functions(patterns: tuple[str, ...], note: Note) -> None:
    """Report calls of Python functions and ufuncs that match a pattern, even if imported later."""
    _import_hook.note = note
    dotted = _dotted(patterns)
    for name, module in list(sys.modules.items()):
        public_numpy = name.partition(".")[0] == "numpy" and "._" not in name
        if public_numpy or name in _PYTHON or (dotted and dotted.match(f"{name}.")):
            _hook_module(module, patterns)
    tables = sys.modules.get("torch._decomp")
    for table in _TABLES:
        for operator, function in getattr(tables, table, {}).items():
            name = getattr(operator, "__name__", "").split(".")[0]
            if matches(name, patterns):
                hook_function(function, name)
    _hook_ufuncs(patterns)
    _import_hook.patterns = tuple(dict.fromkeys((*_import_hook.patterns, *patterns)))
    if _import_hook not in sys.meta_path:
        sys.meta_path.insert(0, _import_hook)


def hooked_patterns() -> tuple[str, ...]:
    """Return all patterns that have been passed to `hook_functions`."""
    return _import_hook.patterns


# Functions written in Python


def _hook_module(module: types.ModuleType, patterns: tuple[str, ...]) -> None:
    """Hook a module's functions and classes whose names match a pattern."""
    for name, value in list(vars(module).items()):
        if isinstance(value, type):
            noted = _noted_name(value, name, patterns)
            for method in _computing_methods(value) if noted else ():
                hook_function(method, noted)
            continue
        kept = getattr(value, "__dict__", {})
        if not isinstance(value, types.FunctionType) and "_init_fn" in kept:
            value = kept["_init_fn"]  # the function that `torch.library.custom_op` wraps
        # NumPy's dispatchers wrap a function, but keep the public name of their module
        wrapped = value if isinstance(value, types.FunctionType) else kept.get("__wrapped__")
        if isinstance(wrapped, types.FunctionType) and (
            noted := _noted_name(value, name, patterns)
        ):
            hook_function(wrapped, noted)


def _computing_methods(owner: type) -> list[Any]:
    def computes(name: str, method: Any) -> bool:
        if getattr(method, "__module__", None) != owner.__module__:  # such as methods from `enum`
            return False
        describes = any(fnmatch.fnmatchcase(name, p) for p in ("__*", *_DESCRIBING))
        return name == "__call__" or not describes

    return [method for name, method in vars(owner).items() if computes(name, method)]


def _noted_name(value: Any, name: str, patterns: tuple[str, ...]) -> str:
    """Return the name under which a function or class matches a pattern, or "" without a match.

    A pattern that contains a dot is matched against the qualified name without its private parts.
    """
    dotted = _dotted(patterns)
    if dotted is not None:
        full = ".".join(p for p in f"{value.__module__}.{name}".split(".") if not p.startswith("_"))
        if dotted.match(full):
            return full
    names = (name, name.lower()) if isinstance(value, type) else (name,)  # softmax matches Softmax
    return next((n for n in names if matches(n, patterns)), "")


@cache
def _dotted(patterns: tuple[str, ...]) -> re.Pattern[str] | None:
    dotted = tuple(p for p in patterns if "." in p)
    return _any_of(dotted) if dotted else None


def hook_function(function: Any, name: str) -> None:
    """Make a function, and the functions that it wraps, report each call under this name."""
    while function is not None:
        if isinstance(function, types.FunctionType) and not is_hooked(function):
            _replace_code(function, name)
        function = getattr(function, "__wrapped__", None)


def is_hooked(function: Any) -> bool:
    """Return True if `hook_function` has replaced the function's code."""
    code = getattr(function, "__code__", None)
    constants = getattr(code, "co_consts", None) or ()
    return any(isinstance(constant, _HookedCall) for constant in constants)


class _HookedCall:
    """A constant in a hooked function's code that reports the call and runs the original code.

    The original function is stored in `_originals`, not in an attribute, because student code can
    read the constants of a code object and their attributes.
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
        _originals[self] = call

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        _import_hook.note(self.name, self.composed)
        return _originals[self](*args, **kwargs)


_originals: dict[_HookedCall, types.FunctionType] = {}


def _replace_code(function: types.FunctionType, name: str) -> None:
    old = function.__code__
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return

    def template(*args: Any, **kwargs: Any) -> Any:
        call: Any = "the function"  # a constant that is replaced below
        return call(*args, **kwargs)

    hooked: Any = _HookedCall(function, name)
    code = template.__code__
    function.__code__ = code.replace(
        co_consts=tuple(hooked if c == "the function" else c for c in code.co_consts),
        co_freevars=old.co_freevars,
        co_name=old.co_name,
        co_qualname=old.co_qualname,
        co_filename=old.co_filename,
        co_firstlineno=old.co_firstlineno,
    )
    if "__signature__" not in vars(function):
        function.__signature__ = signature  # type: ignore[attr-defined]  # for `inspect.signature`


class _ImportHook:
    """A meta path finder that hooks the modules of `_LIBRARIES` when they are imported."""

    def __init__(self) -> None:
        self.patterns: tuple[str, ...] = ()
        self.note: Note = lambda name, composed: None

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
            _hook_module(module, self.patterns)
            _replace_ufuncs_in(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign,union-attr]  # not None
        return spec


_import_hook = _ImportHook()


# NumPy's ufuncs


class HookedUfunc:
    """A wrapper that reports calls of a ufunc and of the ufunc's methods, such as `reduce`."""

    def __init__(self, ufunc: Any) -> None:
        self.__name__, self.__doc__ = ufunc.__name__, ufunc.__doc__
        _ufuncs[self] = ufunc

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._apply(_ufuncs[self], args, kwargs)

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(_ufuncs[self], attribute)
        if not callable(value):
            return value

        def method(*args: Any, **kwargs: Any) -> Any:
            return self._apply(value, args, kwargs)

        return method

    def _apply(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Report and run a call without exposing the original ufunc to arguments or in errors."""
        _import_hook.note(self.__name__, False)
        try:
            plain = {name: _without_hooks(value) for name, value in kwargs.items()}
            return function(*map(_without_hooks, args), **plain)
        except TypeError as error:
            if hasattr(error, "ufunc"):
                error.ufunc = self
            raise


def _without_hooks(value: Any) -> Any:
    """Return a ufunc's argument, as a plain array if its class could receive the original ufunc."""
    if isinstance(value, tuple):
        return tuple(map(_without_hooks, value))
    numpy: Any = sys.modules["numpy"]
    for hook in ("__array_ufunc__", "__array_wrap__"):
        own = inspect.getattr_static(type(value), hook, None)
        numpys = (None, vars(numpy.ndarray)[hook], vars(numpy.generic).get(hook))
        if not any(own is known for known in numpys):
            return numpy.asarray(value)
    return value


_ufuncs: dict[HookedUfunc, Any] = {}


def _hook_ufuncs(patterns: tuple[str, ...]) -> None:
    numpy = sys.modules.get("numpy")
    known = {u.__name__ for u in _ufuncs}
    for name in _UFUNCS:
        if numpy is not None and matches(name, patterns) and name not in known:
            HookedUfunc(getattr(numpy, name))
    for module in list(sys.modules.values()) if _ufuncs else ():
        _replace_ufuncs_in(module)


def _replace_ufuncs_in(module: types.ModuleType | None) -> None:
    if getattr(module, "__name__", "").partition(".")[0] in ("numpy", "scipy"):
        for hooked, ufunc in _ufuncs.items():
            if vars(module).get(hooked.__name__) is ufunc:
                setattr(module, hooked.__name__, hooked)


@contextmanager
def original_ufuncs() -> Iterator[None]:
    """Restore NumPy's ufuncs temporarily, to import a library that registers ufunc loops."""
    replaced = []
    for module in list(sys.modules.values()):
        for hooked, ufunc in _ufuncs.items():
            if getattr(module, "__dict__", {}).get(hooked.__name__) is hooked:
                setattr(module, hooked.__name__, ufunc)
                replaced.append((module, hooked))
    try:
        yield
    finally:
        for module, hooked in replaced:
            setattr(module, hooked.__name__, hooked)


# torch's public functions


def function_mode(note: Note) -> Any:
    """Return a torch function mode that reports calls of torch's public functions to `note`."""
    from torch.overrides import TorchFunctionMode  # imported here, because not all weeks use torch

    class FunctionMode(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            name = getattr(func, "__name__", "").removeprefix("__").removesuffix("__")
            note(name, False)
            return func(*args, **kwargs) if kwargs else func(*args)

    return FunctionMode()
