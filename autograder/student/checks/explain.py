"""Explain an exception under a public check: where it was raised, why, and with which shapes.

Runs in the checking process, because only there the frames still exist. Tensors and arrays are
described by shape, dtype and device; no method of a student's class is called.
"""

from __future__ import annotations

import ast
import linecache
import re
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from ..folder.week import WeekFolder
from .check_results import Failure

_MAX_MESSAGE = 2000
_MAX_CODE = 200
_MAX_FACTS = 5
_NUMPY_SCALAR = re.compile(r"\bnp\.(?:float|int|uint|bool)\d*_?\(([^()]*)\)")


class Explainer:
    """Turn exceptions into failures, for one folder's checks."""

    def __init__(self, folder: WeekFolder) -> None:
        self._folder = folder

    def __call__(self, error: BaseException, exercise: str, output: str = "") -> Failure:
        """Describe the exception that ended a check of `exercise`, after it printed `output`."""
        frames = [f for f in traceback.walk_tb(error.__traceback__) if self._in_folder(f[0])]
        student_frames = [(f, n) for f, n in frames if not self._is_test(f)]
        kind, message = type(error).__name__, _message(error)
        if isinstance(error, NotImplementedError) and student_frames:
            return self._unwritten(error, exercise, student_frames[-1][1])
        if isinstance(error, ImportError) and f"cannot import name '{exercise}'" in message:
            return Failure("missing", output=output)
        if student_frames and "reading from stdin while output is captured" in message:
            reading, line = student_frames[-1]
            return Failure("asks", "", kind, line, _code(reading, line), (), output)
        frame, line = frames[-1] if frames else (None, 0)
        facts = _facts(frame, line) if frame else ()
        if frame is None or self._is_test(frame):
            if isinstance(error, AssertionError):
                return Failure("wrong", message, facts=facts, output=output)
            reason = _unusable_result(kind, message, exercise)
            return Failure("wrong", reason, kind, facts=facts, output=output)
        file = Path(frame.f_code.co_filename).name
        if file != self._folder.week.module:
            message = f"{message} (in {file})"
        return Failure("raised", message, kind, line, _code(frame, line), facts, output)

    def stuck(self, frame: FrameType | None, message: str) -> Failure:
        """Describe the line at which the student's code was stopped; `message` is the reason."""
        while frame is not None and (not self._in_folder(frame) or self._is_test(frame)):
            frame = frame.f_back
        if frame is None:
            return Failure("timeout", message)
        line = frame.f_lineno
        return Failure("timeout", message, line=line, code=_code(frame, line))

    def _unwritten(self, error: NotImplementedError, exercise: str, line: int) -> Failure:
        """Read the unwritten function's name from the exception that its stub raises."""
        name = str(error.args[0]).split(".")[0] if error.args else exercise
        if name != exercise and name in self._folder.names:
            return Failure("waiting", line=line, waits_for=name)
        return Failure("open", line=line)

    def _in_folder(self, frame: FrameType) -> bool:
        return Path(frame.f_code.co_filename).parent == self._folder.path

    def _is_test(self, frame: FrameType) -> bool:
        return Path(frame.f_code.co_filename) == self._folder.checks


def _code(frame: FrameType, line: int) -> str:
    return linecache.getline(frame.f_code.co_filename, line).strip()[:_MAX_CODE]


def _message(error: BaseException) -> str:
    """Return an exception's message, without the values that pytest adds to assertions."""
    try:
        text = str(error)
    except Exception:  # the exception's class may be the student's, with any `__str__`
        text = "(its message cannot be shown)"
    if isinstance(error, AssertionError):
        written, added, _ = text.partition("\nassert ")
        text = written if added else text
    return _NUMPY_SCALAR.sub(r"\1", text).strip()[:_MAX_MESSAGE]


def _unusable_result(kind: str, message: str, exercise: str) -> str:
    if "NoneType" in message:
        return "It returned None instead of a value. Is a `return` missing?"
    called = re.match(r"([\w.]+)\(\) (?:got|takes|missing) ", message)
    if kind == "TypeError" and called and exercise in called[1].split("."):
        return (
            "Its parameters differ from those in the stub: restore their names and order. "
            f"{kind}: {message}"
        )
    return f"The check cannot use the value that it returned. {kind}: {message}"


def _facts(frame: FrameType, line: int) -> tuple[str, ...]:
    """Describe the tensors and arrays that the failing line uses."""
    values = dict(_named_values(frame, line))
    facts = [f"{name}: {fact}" for name, value in values.items() if (fact := _fact(value))]
    return tuple(facts[:_MAX_FACTS])


def _named_values(frame: FrameType, line: int) -> Iterator[tuple[str, Any]]:
    try:
        tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename)))
    except (SyntaxError, ValueError):  # the file has changed since it was imported
        return
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.Name | ast.Attribute)]
    for node in sorted((n for n in nodes if n.lineno == line), key=lambda n: n.col_offset):
        if isinstance(node, ast.Name) and node.id in frame.f_locals:
            yield node.id, frame.f_locals[node.id]
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self":
            values = getattr(frame.f_locals.get("self"), "__dict__", None)
            if isinstance(values, dict) and node.attr in values:
                yield f"self.{node.attr}", values[node.attr]


def _fact(value: Any) -> str:
    """Describe None, a tensor or an array; return "" for anything else."""
    if value is None:
        return "None"
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, torch.Tensor):
        device = "" if value.device.type == "cpu" else f", on {value.device}"
        dtype = str(value.dtype).removeprefix("torch.")
        return f"tensor of shape {tuple(value.shape)}, {dtype}{device}"
    if numpy is not None and isinstance(value, numpy.ndarray):
        return f"array of shape {value.shape}, {value.dtype}"
    return ""
