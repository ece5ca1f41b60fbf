"""Guess inputs for a function from its annotations and defaults, and call it.

Inputs are stored as source text, so a hidden test repeats exactly the call that was tried.
Functions are the author's own code and run in this process; a bound on the number of executed lines
ends a mutant that loops forever.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import torch

from ...grading.assertions.inputs import Draw

Function = Callable[..., Any]
_FILE = "<exercise>"
_MAX_LINES = 100_000  # executed by one call
_TENSORS = (
    "draw.normal(3, 5)",
    "draw.normal(4, 4)",
    "draw.normal(2, 3, 4)",
    "draw.normal(6)",
    "draw.uniform(3, 5, low=0.1)",
    "draw.integers(0, 4, 6)",
)
_LISTS = {
    "int": ("[3, 1, 1, 4, 1, 5]", "[2, 7]"),
    "float": ("[0.5, -1.25, 3.0]", "[2.0, 2.0]"),
    "str": ('["a", "a", "rose", "is", "is", "is", "a"]', '["to", "be"]'),
    "bool": ("[True, False, True]", "[False]"),
    "list": ("[[1, 2], [3]]", "[[1, 2], [3, 4]]"),
}
_SCALARS = {
    "int": ("3", "2", "5", "1", "0"),
    "float": ("0.5", "2.0", "-1.5", "0.1"),
    "bool": ("True", "False"),
    "str": ('"a rose is a rose"', '"level"', '""'),
}


class TooManyLines(BaseException):
    """A call ran longer than it may; not an Exception, so that its code cannot catch it."""


class SampleCall(msgspec.Struct, frozen=True):
    """Arguments as source text. `varied`: the parameter whose default is replaced, or ""."""

    positional: tuple[str, ...]
    keywords: tuple[tuple[str, str], ...] = ()
    varied: str = ""

    @property
    def text(self) -> str:
        return ", ".join([*self.positional, *(f"{name}={text}" for name, text in self.keywords)])

    def arguments(self, seed: int) -> tuple[list[Any], dict[str, Any]]:
        """Evaluate the arguments with the inputs of one seed."""
        names = {"draw": Draw(b"probing", str(seed), "float32")}
        positional = [eval(text, names) for text in self.positional]  # texts of this module
        return positional, {name: eval(text, names) for name, text in self.keywords}


class CallOutcome(msgspec.Struct, frozen=True):
    """The result of a call, or the name of the exception that ended it."""

    value: Any
    error: str = ""

    @property
    def is_useful(self) -> bool:
        """True if the result is finite and not empty, so that a test can compare it."""
        if self.error or self.value is None:
            return False
        if isinstance(self.value, torch.Tensor):
            return self.value.numel() > 0 and bool(self.value.double().isfinite().all())
        return not hasattr(self.value, "__len__") or len(self.value) > 0


def define(module: str) -> dict[str, Any]:
    """Execute a module's source and return its names."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with _bounded():
        exec(compile(module, _FILE, "exec"), names)
    return names


def run(function: Function, call: SampleCall, seed: int) -> CallOutcome:
    """Call a function with the inputs of one seed."""
    positional, keywords = call.arguments(seed)
    try:
        with _bounded():
            return CallOutcome(function(*positional, **keywords))
    except (Exception, TooManyLines) as error:
        return CallOutcome(None, type(error).__name__)


def equal(a: CallOutcome, b: CallOutcome) -> bool:
    """Return True if two outcomes agree within rounding."""
    if a.error or b.error:
        return a.error == b.error
    try:
        torch.testing.assert_close(a.value, b.value, rtol=1e-4, atol=1e-6, equal_nan=True)
    except AssertionError:
        return False
    except (TypeError, ValueError):  # values that are not numeric
        return type(a.value) is type(b.value) and bool(a.value == b.value)
    return True


def guess_calls(function: Function) -> list[SampleCall]:
    """Return the first guessed call that succeeds, then one for each default that changes it.

    Return an empty list if no guess succeeds.
    """
    for call in _guesses(function):
        outcome = run(function, call, 0)
        if outcome.is_useful:
            return [call, *_variations(function, call, outcome)]
    return []


@contextlib.contextmanager
def _bounded() -> Iterator[None]:
    """Discard output and raise TooManyLines after `_MAX_LINES` lines of the probed code."""
    left, previous = _MAX_LINES, sys.gettrace()

    def trace(frame: types.FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if frame.f_code.co_filename != _FILE:
            return None
        left -= event == "line"
        if left < 0:
            raise TooManyLines
        return trace

    sys.settrace(trace)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        sys.settrace(previous)


def _guesses(function: Function) -> Iterator[SampleCall]:
    """Guess values for all required parameters; scalars differ from each other where possible."""
    required = [p for p in _parameters(function) if p.default is p.empty]
    choices = [_choices(p) for p in required]
    for number in range(max(map(len, choices), default=1)):
        texts = []
        for place, offered in enumerate(choices):
            shift = choices[:place].count(offered) if offered in _SCALARS.values() else 0
            texts.append(offered[(number + shift) % len(offered)])
        pairs = list(zip(required, texts, strict=True))
        yield SampleCall(
            positional=tuple(text for p, text in pairs if p.kind is not p.KEYWORD_ONLY),
            keywords=tuple((p.name, text) for p, text in pairs if p.kind is p.KEYWORD_ONLY),
        )


def _variations(function: Function, call: SampleCall, outcome: CallOutcome) -> Iterator[SampleCall]:
    for parameter in _parameters(function):
        for text in _choices(parameter) if parameter.default is not parameter.empty else ():
            keywords = (*call.keywords, (parameter.name, text))
            varied = SampleCall(call.positional, keywords, parameter.name)
            other = run(function, varied, 0)
            if other.is_useful and not equal(other, outcome):
                yield varied
                break


def _parameters(function: Function) -> list[inspect.Parameter]:
    parameters = inspect.signature(function).parameters.values()
    return [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def _choices(parameter: inspect.Parameter) -> tuple[str, ...]:
    """Return source texts that fit a parameter's name, annotation and default."""
    if parameter.name in ("dim", "axis"):
        return ("0", "1", "-1", "-2")
    annotation = ""
    if parameter.annotation is not parameter.empty:
        annotation = inspect.formatannotation(parameter.annotation)
    elif parameter.default not in (parameter.empty, None):
        annotation = type(parameter.default).__name__
    kind = annotation.strip("'\"").partition(" | None")[0].removeprefix("Optional[")
    head, _, inner = kind.partition("[")
    head = head.rpartition(".")[2].lower()
    if head in ("list", "sequence", "iterable", "collection", "tuple"):
        texts = _LISTS.get(inner.rstrip("]").partition(",")[0].partition("[")[0], _LISTS["int"])
        return tuple(f"tuple({t})" for t in texts) if head == "tuple" else texts
    if head in ("dict", "mapping"):
        return ('{"a": 3, "b": 1}', '{"a": 1.5, "b": -0.5}', '{1: "a", 2: "b"}')
    if "array" in head:
        return tuple(t.replace("draw.", "draw.array.") for t in _TENSORS)
    if head in _SCALARS:
        return _SCALARS[head]
    if "mask" in parameter.name:
        return ("draw.bools(3, 5)", "draw.bools(4, 4)", "draw.bools(2, 3, 4)")
    return _TENSORS if head else (*_TENSORS, *_SCALARS["int"], *_SCALARS["str"])
