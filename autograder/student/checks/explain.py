"""From an exception under a public check to what a student can use: where, what, and which shapes.

Runs in the checking Python, beside the student's code, because only there the frames still exist.
It looks at tensors and arrays by their shape, dtype and device, and calls nothing of the student's.
"""

from __future__ import annotations

import ast
import linecache
import re
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from _pytest import capture as _capture

from .results import Failure

_LONGEST = 2000
_NUMBER = re.compile(r"\bnp\.(?:float|int|uint|bool)\d*_?\(([^()]*)\)")  # as NumPy writes one
_FACTS = 5


class Explainer:
    """Explains the failures of one folder's checks."""

    def __init__(self, folder: Path, module: str, tests: Path, exercises: tuple[str, ...]) -> None:
        self.folder, self.module, self.tests = folder, module, tests
        self.exercises = exercises

    def __call__(self, error: BaseException, exercise: str, output: str = "") -> Failure:
        ours = list(self._frames(error.__traceback__))
        theirs = [(f, n) for f, n in ours if not self._is_test(f)]
        kind = type(error).__name__
        message = _message(error)
        if isinstance(error, NotImplementedError) and theirs:
            return self._unwritten(error, exercise, theirs[-1][1])
        if isinstance(error, ImportError) and f"cannot import name '{exercise}'" in message:
            return Failure("missing", output=output)
        if theirs and _asked_for_input(error):
            asking, line = theirs[-1]
            code = linecache.getline(asking.f_code.co_filename, line).strip()
            return Failure("asks", "", kind, line, code[:200], (), output)
        frame, line = ours[-1] if ours else (None, 0)
        facts = _facts(frame, line) if frame else ()
        if frame is None or self._is_test(frame):
            if isinstance(error, AssertionError):
                return Failure("wrong", message, facts=facts, output=output)
            said = _incomparable(kind, message, exercise)
            return Failure("wrong", said, kind, facts=facts, output=output)
        file = Path(frame.f_code.co_filename)
        code = linecache.getline(str(file), line).strip()
        if file.name != self.module:
            message = f"{message} (in {file.name})"
        return Failure("raised", message, kind, line, code[:200], facts, output)

    def stuck(self, frame: FrameType | None, why: str) -> Failure:
        """Where the student's code is when its time is over; `why` says which time."""
        while frame is not None and (not self._is_ours(frame) or self._is_test(frame)):
            frame = frame.f_back
        if frame is None:
            return Failure("timeout", why)
        code = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
        return Failure("timeout", why, line=frame.f_lineno, code=code[:200])

    def _unwritten(self, error: NotImplementedError, exercise: str, line: int) -> Failure:
        """The stub says in its exception which function it stands for."""
        name = str(error.args[0]).split(".")[0] if error.args else exercise
        if name != exercise and name in self.exercises:
            return Failure("waiting", line=line, waits_for=name)
        return Failure("open", line=line)

    def _frames(self, trace: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
        """The frames of the folder's own files, outermost first."""
        for frame, line in traceback.walk_tb(trace):
            if self._is_ours(frame):
                yield frame, line

    def _is_ours(self, frame: FrameType) -> bool:
        return Path(frame.f_code.co_filename).parent == self.folder

    def _is_test(self, frame: FrameType) -> bool:
        return Path(frame.f_code.co_filename) == self.tests


def _asked_for_input(error: BaseException) -> bool:
    """Return whether it is what a read from the keyboard raises under pytest."""
    last = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        last = frame
    return last is not None and last.f_code.co_filename == _capture.__file__


def _message(error: BaseException) -> str:
    """The text of an exception; of a failed assertion what its author wrote, without the values
    that pytest adds below it, unless these are all there is."""
    try:
        text = str(error)
    except Exception:
        text = "(its message cannot be shown)"
    if isinstance(error, AssertionError):
        written, added, _ = text.partition("\nassert ")
        text = written if added else text
    return _NUMBER.sub(r"\1", text).strip()[:_LONGEST]


def _incomparable(kind: str, message: str, exercise: str) -> str:
    if "NoneType" in message:
        return "A value was expected, but None came back. Is a `return` missing?"
    called = re.match(r"([\w.]+)\(\) (?:got|takes|missing) ", message)
    if kind == "TypeError" and called and exercise in called[1].split("."):
        return (
            "It is called as the stub defines it, but its parameters are others now: give them "
            f"back their names and their order. {kind}: {message}"
        )
    return f"The check could not work with what came back. {kind}: {message}"


def _facts(frame: FrameType, line: int) -> tuple[str, ...]:
    """Shape, dtype and device of what the failing statement names."""
    found: dict[str, str] = {}
    for name, value in _named(frame, line):
        fact = _fact(value)
        if fact and name not in found and len(found) < _FACTS:
            found[name] = fact
    return tuple(f"{name}: {fact}" for name, fact in found.items())


def _named(frame: FrameType, line: int) -> Iterator[tuple[str, Any]]:
    statement = _statement("".join(linecache.getlines(frame.f_code.co_filename)), line)
    if statement is None:
        return
    named = [n for n in ast.walk(statement) if isinstance(n, ast.Name | ast.Attribute)]
    for node in sorted(named, key=lambda n: (n.lineno, n.col_offset)):
        if isinstance(node, ast.Name) and node.id in frame.f_locals:
            yield node.id, frame.f_locals[node.id]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = frame.f_locals.get(node.value.id)
            values = getattr(owner, "__dict__", None)
            if node.value.id == "self" and isinstance(values, dict) and node.attr in values:
                yield f"self.{node.attr}", values[node.attr]


def _statement(source: str, line: int) -> ast.AST | None:
    """The innermost statement on a line; of one with a body only its head."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    best: ast.stmt | None = None
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            best = node  # ast.walk goes from the outside in
    if best is not None and hasattr(best, "body"):
        return getattr(best, "test", None) or getattr(best, "iter", None)
    return best


def _fact(value: Any) -> str:
    """What a value is, for tensors and arrays; "" for anything else."""
    if value is None:
        return "None"
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, torch.Tensor):
        dtype = str(value.dtype).removeprefix("torch.")
        device = "" if value.device.type == "cpu" else f", on {value.device}"
        return f"tensor of shape {tuple(value.shape)}, {dtype}{device}"
    if numpy is not None and isinstance(value, numpy.ndarray):
        return f"array of shape {value.shape}, {value.dtype}"
    return ""
