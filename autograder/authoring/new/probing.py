"""Finding out how a function of the author's can be called, and what holds of its results.

Arguments are tried by what the signature says of them: annotation, default, name. What works is
kept as the text that a hidden test would hold, so that what was tried and what is written are the
same. The code is the author's own and runs here, under a bound on the lines it may execute: it ends
on a slow machine as on a quick one.
"""

from __future__ import annotations

import ast
import contextlib
import io
import itertools
import math
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
import numpy as np
import torch

from ...grading.assertions.inputs import Draw

_MOST_LINES = 100_000  # of Python, for one call
_MOST_TRIES = 400
_TENSORS = (
    "draw.normal(3, 5)",
    "draw.normal(2, 3, 4)",
    "draw.normal(6)",
    "draw.normal(4, 4)",
    "draw.normal(2, 2, 3, 4)",
    "draw.uniform(3, 5, low=0.1)",
    "draw.normal(5, 4)",
    "draw.normal(3, 4)",
    "draw.integers(0, 4, 3, 5)",
    "draw.integers(0, 4, 6)",
    "draw.bools(3, 5)",
    "draw.bools(4, 4)",
)
_OF_ELEMENTS = {
    "int": ("[3, 1, 1, 4, 1, 5]", "[2, 7]", "[5]", "[0, 0, 1]"),
    "float": ("[0.5, -1.25, 3.0]", "[2.0, 2.0]", "[1.5]"),
    "str": ('["a", "a", "rose", "is", "is", "is", "a"]', '["to", "be"]', '["one"]'),
    "bool": ("[True, False, True]", "[False]"),
    "list": ("[[1, 2], [3]]", "[[1, 2], [3, 4]]"),
}
_PLAIN = {
    "int": ("3", "2", "5", "1", "0", "-1", "8"),
    "float": ("0.5", "2.0", "-1.5", "0.1"),
    "bool": ("True", "False"),
    "str": ('"a rose is a rose"', '"abc"', '"level"', '""'),
}
Function = Callable[..., Any]


class TooLong(BaseException):
    """More lines than a call may take; nothing that a function catches."""


class Sample(msgspec.Struct, frozen=True):
    """Arguments as a hidden test writes them. about: the parameter that this is there for."""

    positional: tuple[str, ...]
    keywords: tuple[tuple[str, str], ...] = ()
    about: str = ""

    @property
    def text(self) -> str:
        return ", ".join([*self.positional, *(f"{name}={text}" for name, text in self.keywords)])

    def arguments(self, draw: Draw) -> tuple[list[Any], dict[str, Any]]:
        def made(text: str) -> Any:
            return eval(text, {"draw": draw})  # our own texts, from the lists above

        return [made(t) for t in self.positional], {n: made(t) for n, t in self.keywords}


class Probed(msgspec.Struct, frozen=True):
    """What a call came to: its value, or the exception that ended it."""

    value: Any
    raised: str = ""
    lines: frozenset[tuple[str, int]] = frozenset()


def drawn(seed: int) -> Draw:
    """Inputs of one of the draws that a function is looked at with."""
    return Draw(b"probing", str(seed), "float32")


def defined(module: str) -> dict[str, Any]:
    """What a module's source defines."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with bounded(set()), contextlib.redirect_stdout(io.StringIO()):
        exec(compile(module, _WHERE, "exec"), names)  # the author's own code
    return names


_WHERE = "<taken>"


@contextlib.contextmanager
def bounded(lines: set[tuple[str, int]]) -> Iterator[None]:
    """Count the lines of the code under probe; raise TooLong where they are too many."""
    left, before = _MOST_LINES, sys.gettrace()

    def trace(frame: types.FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if frame.f_code.co_filename != _WHERE:
            return None
        if event == "line":
            lines.add((frame.f_code.co_name, frame.f_lineno))
            left -= 1
            if left < 0:
                raise TooLong
        return trace

    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def call(function: Function, sample: Sample, seed: int) -> Probed:
    """Call a function on a sample of one draw."""
    args, kwargs = sample.arguments(drawn(seed))
    lines: set[tuple[str, int]] = set()
    try:
        with bounded(lines), contextlib.redirect_stdout(io.StringIO()):
            value = function(*args, **kwargs)
            if isinstance(value, types.GeneratorType):
                value = list(itertools.islice(value, 1000))
    except (Exception, TooLong) as error:
        return Probed(None, type(error).__name__, frozenset(lines))
    return Probed(value, "", frozenset(lines))


def samples(node: ast.FunctionDef, function: Function) -> list[Sample]:
    """Calls that work, the plainest first; together they reach all lines that any try reached."""
    found: list[Sample] = []
    base: Probed | None = None
    covered: set[tuple[str, int]] = set()
    for sample in itertools.islice(_tries(node), _MOST_TRIES):
        outcome = call(function, sample, 0)
        if outcome.raised or not is_telling(outcome.value):
            continue
        if base is None:
            base = outcome
            found = [sample, *_options(node, function, sample, outcome)]
            covered |= {line for s in found for line in call(function, s, 0).lines}
        elif outcome.lines - covered or _is_other(sample, found):
            found.append(sample)
            covered |= outcome.lines
        if len(found) >= 6:
            break
    return found


def _is_other(sample: Sample, found: list[Sample]) -> bool:
    """Return whether few samples are there yet, and their first arguments are of other shapes."""
    plain = [s for s in found if not s.about]
    return len(plain) < 3 and _shape(sample) not in [_shape(s) for s in plain]


def _shape(sample: Sample) -> str:
    """The number of axes of the first argument, or the argument itself."""
    first = sample.positional[0] if sample.positional else ""
    return str(first.count(",") - first.count("=")) if first.startswith("draw.") else first


def is_steady(function: Function, sample: Sample) -> bool:
    """Return whether the function gives the same result twice."""
    return alike(call(function, sample, 0), call(function, sample, 0))


def alike(a: Probed, b: Probed) -> bool:
    """Return whether two outcomes are the same, within rounding."""
    if a.raised or b.raised:
        return a.raised == b.raised
    return _same(a.value, b.value)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, (np.ndarray, np.generic)) and isinstance(b, (np.ndarray, np.generic)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        return bool(np.allclose(a, b, rtol=1e-4, atol=1e-6, equal_nan=True))
    if type(a) is not type(b):
        return False
    if isinstance(a, torch.Tensor):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        return bool(torch.allclose(a.double(), b.double(), rtol=1e-4, atol=1e-6, equal_nan=True))
    if isinstance(a, float):
        return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9) or (a != a and b != b)
    if isinstance(a, Mapping):
        return a.keys() == b.keys() and all(_same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)


def is_telling(value: Any) -> bool:
    """Return whether a result is something, and nothing of it infinite or undefined."""
    if isinstance(value, torch.Tensor):
        return value.numel() > 0 and bool(torch.isfinite(value.double()).all())
    if isinstance(value, (list, tuple, dict, str)):
        return len(value) > 0
    return value is not None


def _options(
    node: ast.FunctionDef, function: Function, base: Sample, outcome: Probed
) -> Iterator[Sample]:
    """The base call with another value for each parameter that has a default."""
    for argument, default in _defaulted(node):
        for text in _offers(argument, default):
            sample = Sample(base.positional, ((argument.arg, text),), argument.arg)
            other = call(function, sample, 0)
            if not other.raised and is_telling(other.value) and not alike(other, outcome):
                yield sample
                break


def _tries(node: ast.FunctionDef) -> Iterator[Sample]:
    """Arguments for what has no default: of one shape first, then whatever goes together.

    Numbers first differ from each other: of two that are equal, one may say nothing.
    """
    required = _required(node)
    offers = [_offers(argument, None) for argument, _ in required]
    seen = set()
    numbers = [o in (_PLAIN["int"], _PLAIN["float"]) for o in offers]
    before = [sum(numbers[:n]) if number else 0 for n, number in enumerate(numbers)]
    rounds = range(len(_TENSORS))
    apart = ([_at(o, i + b) for o, b in zip(offers, before, strict=True)] for i in rounds)
    together = ([_at(o, i) for o in offers] for i in rounds)
    for texts in itertools.chain(apart, together, itertools.product(*offers)):
        named = tuple((a.arg, t) for (a, only), t in zip(required, texts, strict=True) if only)
        plain = tuple(t for (_, only), t in zip(required, texts, strict=True) if not only)
        if (plain, named) not in seen:
            seen.add((plain, named))
            yield Sample(plain, named)


def _at(offers: tuple[str, ...], number: int) -> str:
    """The offer of that number, or the last."""
    return offers[min(number, len(offers) - 1)]


def _required(node: ast.FunctionDef) -> list[tuple[ast.arg, bool]]:
    """Parameters without a default, and whether they are given by name only."""
    plain = [*node.args.posonlyargs, *node.args.args]
    plain = plain[: len(plain) - len(node.args.defaults)]
    pairs = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return [(a, False) for a in plain] + [(a, True) for a, d in pairs if d is None]


def _defaulted(node: ast.FunctionDef) -> list[tuple[ast.arg, ast.expr]]:
    plain = [*node.args.posonlyargs, *node.args.args]
    given = node.args.defaults
    pairs = list(zip(plain[len(plain) - len(given) :], given, strict=True))
    only = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return pairs + [(a, d) for a, d in only if d is not None]


def _offers(argument: ast.arg, default: ast.expr | None) -> tuple[str, ...]:
    """Values that a parameter may take, as texts."""
    said = ast.unparse(argument.annotation) if argument.annotation else ""
    if not said and isinstance(default, ast.Constant) and default.value is not None:
        said = type(default.value).__name__
    if not said and isinstance(default, ast.UnaryOp):
        said = "int"
    return _of_type(said.strip("'\""), argument.arg, default is not None)


def _of_type(said: str, name: str, optional: bool) -> tuple[str, ...]:
    kind = said.removeprefix("Optional[").partition(" | None")[0]
    if "ndarray" in kind or "NDArray" in kind:
        return tuple(t.replace("draw.", "draw.array.") for t in _tensors(name))
    if "Tensor" in kind:
        return _tensors(name)
    if name in ("dim", "axis"):
        return ("0", "1", "-1", "-2")
    head, _, inner = kind.partition("[")
    head = head.rpartition(".")[2]
    if head in ("list", "List", "Sequence", "Iterable", "Collection", "tuple", "Tuple"):
        element = inner.rstrip("]").partition(",")[0].partition("[")[0] or "int"
        offers = _OF_ELEMENTS.get(element, _OF_ELEMENTS["int"])
        if head in ("tuple", "Tuple"):
            return tuple(f"tuple({o})" for o in offers)
        return offers
    if head in ("dict", "Dict", "Mapping"):
        return ('{"a": 3, "b": 1}', '{"a": 1.5, "b": -0.5}', '{1: "a", 2: "b"}')
    if head in _PLAIN:
        return _PLAIN[head]
    if optional:
        return (*_PLAIN["int"], *_PLAIN["bool"], *_PLAIN["float"], *_tensors(name))
    lists = itertools.chain(*_OF_ELEMENTS.values())
    return (*_tensors(name), *_PLAIN["int"], *_PLAIN["str"], *lists)


def _tensors(name: str) -> tuple[str, ...]:
    """Tensors, those first that the parameter's name suggests."""
    wanted = ""
    if "mask" in name or "keep" in name:
        wanted = "draw.bools("
    elif any(word in name for word in ("index", "indices", "ids", "tokens", "labels", "targets")):
        wanted = "draw.integers(0, 4, "
    normal = [t for t in _TENSORS if t.startswith("draw.normal(")]
    fitting = [t.replace("draw.normal(", wanted) for t in normal if wanted]
    if any(word in name for word in ("weight", "prob", "attention")):
        fitting = [f"{t}.softmax(-1)" for t in normal]
    return (*fitting, *_TENSORS)
