"""Check without a GPU whether Triton's compiler accepts a kernel.

The interpreter runs a kernel as Python, so it accepts code that the compiler rejects: a range whose
length is not a power of two, a product of tiles that are too small, a call of a torch function, a
list, or a variable that changes its type in a loop. The compiler's frontend compiles a kernel's
source to Triton's first intermediate representation. This needs neither a GPU nor other programs.

When Triton is imported, its own functions such as `tl.max` and `tl.sum` become either interpreted
or compilable functions. In this process, `tl.max` and `tl.sum` are interpreted; `compiled_twins`
replaces these functions with compilable versions while the frontend compiles a kernel.
"""

import inspect
import os
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module  # Triton is an extra and may not be installed
from typing import Any

from ..protocol import frames
from ..torch_support.fake_device import ClaimedTensor

_CAPABILITY = 80  # Ampere; the frontend rejects the same kernels for newer GPUs


class Frontend:
    """Compiles kernels to Triton's intermediate representation, and caches compilation errors."""

    def __init__(self) -> None:
        backends: Any = import_module("triton.backends.compiler")
        compiler: Any = import_module("triton.compiler.compiler")
        self._target = backends.GPUTarget("cuda", _CAPABILITY, 32)
        self._backend = compiler.make_backend(self._target)
        self._source = compiler.ASTSource
        self._ir: Any = import_module("triton._C.libtriton").ir
        self._specialize = import_module("triton.runtime.jit").native_specialize_impl
        self._any: Any = backends.BaseBackend
        self._utils: Any = import_module("triton._utils")
        self._known: dict[Any, frames.Raised | None] = {}
        tensor = import_module("triton.language").tensor
        # the interpreter patches these attributes and does not restore all of them
        self._plain = [(owner, dict(vars(owner))) for owner in [tensor, *_language()]]
        self._libraries = frozenset(sys.modules)

    def refusal(
        self, kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any], root: str
    ) -> frames.Raised | None:
        """Return the compiler's error, or None if the kernel compiles or the call is invalid."""
        # exclude launch options such as `num_warps`
        named = {name: value for name, value in kwargs.items() if name in kernel.arg_names}
        try:
            bound = inspect.signature(kernel.fn).bind(*args, **named)
        except TypeError:
            return None  # the launch itself will raise this error
        bound.apply_defaults()
        try:
            signature, constants = self._types(kernel, bound.arguments)
        except Exception as error:  # Triton has no type for one of the arguments
            return _described(error, root)
        key = kernel.fn, tuple(signature.items()), repr(constants)
        if key not in self._known:
            self._known[key] = self._compile(kernel, signature, constants, root)
        return self._known[key]

    def _types(
        self, kernel: Any, arguments: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[tuple[int, ...], Any]]:
        """Return the types of the parameters by name, and the values of constants by position."""
        signature = {}
        values = [_bare(value) for value in arguments.values()]
        for name, value in zip(arguments, values, strict=True):
            given = "constexpr" in str(kernel.fn.__annotations__.get(name, ""))
            # the arguments 1 and None become constants, as in a launch on a GPU
            own = "constexpr" if given else self._specialize(self._any, value, False, True, True)[0]
            signature[name] = own
        places = self._utils.find_paths_if(tuple(signature.values()), lambda _, t: t == "constexpr")
        return signature, {p: self._utils.get_iterable_path(values, p) for p in places}

    def _compile(
        self,
        kernel: Any,
        signature: dict[str, Any],
        constants: dict[tuple[int, ...], Any],
        root: str,
    ) -> frames.Raised | None:
        others = [m for n, m in list(sys.modules.items()) if n not in self._libraries]
        own = [vars(module) for module in others if _is_submitted(module, root + os.sep)]
        quiet = warnings.catch_warnings(action="ignore")
        with quiet, compiled_twins(self._plain, kernel.fn, own) as twin:
            try:
                source = self._source(twin, signature, constants)
                # Triton compiles overflow checks into a kernel only for debugging.
                options = self._backend.parse_options({"sanitize_overflow": False})
                context = self._ir.context()
                self._ir.load_dialects(context)
                self._backend.load_dialects(context)
                functions = self._backend.get_codegen_implementation(options)
                modules = self._backend.get_module_map()
                source.make_ir(self._target, options, functions, modules, context)
            except Exception as error:
                return _described(error, root)
        return None


def _bare(value: Any) -> Any:
    if isinstance(value, tuple):
        inner = tuple(map(_bare, value))
        return type(value)(*inner) if hasattr(value, "_fields") else inner
    if type(value) is import_module("triton.runtime.interpreter").InterpretedFunction:
        return _twin(value.fn)
    return value.elem if isinstance(value, ClaimedTensor) else value


def _described(error: BaseException, root: str) -> frames.Raised:
    """Describe the root cause of a compilation error, with its line in the submission if known."""
    line = _line_of(error, root)
    while error.__cause__ is not None:
        error = error.__cause__
        line = _line_of(error, root) or line
    message = str(getattr(error, "error_message", None) or error).strip().split("\n")[0]
    clean = message[:500].replace(root, "").encode("utf-8", "replace").decode("utf-8")
    bases = tuple(b.__name__[:100] for b in type(error).__mro__[:8])
    return frames.Raised(bases[0], bases, clean, line)


def _line_of(error: BaseException, root: str) -> int | None:
    node, source = getattr(error, "node", None), getattr(error, "src", None)
    for twin in _twins.values():
        inside = twin.fn.__code__.co_filename.startswith(root + os.sep)
        if twin.src == source and node is not None and inside:
            _, first = import_module("triton.runtime.jit").get_jit_fn_file_line(twin)
            return int(first + node.lineno - 1)
    return None


# Triton's interpreted functions and their compilable versions


def interpret_library() -> None:
    """Switch Triton's own functions to the interpreter, even if Triton was imported without it."""
    jit: Any = import_module("triton.runtime.jit")
    interpreter: Any = import_module("triton.runtime.interpreter")
    import_module("triton.language")
    tensor = import_module("triton.language").tensor
    for owner in [*_language(), tensor]:
        for name, value in list(vars(owner).items()):
            if type(value) is jit.JITFunction:
                function = interpreter.InterpretedFunction(value.fn)
                setattr(owner, name, _as_method(function) if owner is tensor else function)


def _as_method(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: function(*args, **kwargs)


_twins: dict[Any, Any] = {}


@contextmanager
def compiled_twins(
    plain: list[tuple[Any, dict[str, Any]]], kernel: types.FunctionType, own: list[dict[str, Any]]
) -> Iterator[Any]:
    """Temporarily make a kernel, and the functions that it may call, compilable; yield the kernel.

    plain: Triton's modules and tensor class, with the attributes that they had after import
    own:   namespaces of the submission's modules
    """
    kind = import_module("triton.runtime.interpreter").InterpretedFunction
    tensor = import_module("triton.language").tensor
    changed: list[tuple[Any, str, Any]] = []

    def replace(owner: Any, name: str, value: Any) -> None:
        names = owner if isinstance(owner, dict) else vars(owner)
        changed.append((owner, name, names.get(name)))
        _set(owner, name, value)

    try:
        for owner, values in plain:
            for name, value in values.items():
                compiled = _twin(value.fn) if type(value) is kind else value
                if compiled is not vars(owner).get(name):
                    replace(owner, name, compiled)
                if compiled is not value and hasattr(tensor, name):
                    replace(tensor, name, compiled)
        for names in [*own, kernel.__globals__]:
            for name, value in list(names.items()):
                if type(value) is kind:
                    replace(names, name, _twin(value.fn))
        yield _twin(kernel)
    finally:
        for owner, name, value in reversed(changed):
            _set(owner, name, value)


def _set(owner: Any, name: str, value: Any) -> None:
    if isinstance(owner, dict):
        owner[name] = value
    else:
        setattr(owner, name, value)


def _twin(function: Any) -> Any:
    if function not in _twins:
        _twins[function] = import_module("triton.runtime.jit").JITFunction(function)
    return _twins[function]


def _language() -> list[Any]:
    return [m for n, m in list(sys.modules.items()) if n.startswith("triton.language")]


def _is_submitted(module: Any, within: str) -> bool:
    file = getattr(module, "__file__", None)
    return type(file) is str and file.startswith(within)
