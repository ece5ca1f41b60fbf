"""Explain why the student's module cannot be imported, or why a public check fails.

Explanations are created in the checking process, because the frames of an exception exist only
where it was raised. They state the line, the reason, and the shapes, dtypes and devices of tensors
and arrays on that line. To locate a mistake, small edits of the code are tried. If an edit makes
all checks pass, only its line and kind are reported.

The module is imported as in grading: once, from its file even if a library has the same name, and
without standard input.
"""

import ast
import importlib.util
import inspect
import linecache
import os
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType, FunctionType, ModuleType
from typing import Any

from ...model.availability import is_missing
from ...model.source.import_failure import STUCK, ImportFailure
from ...worker.stop_location import interrupted_after, raising_frame, stopped_at
from ..folder.week import WeekFolder
from .check_results import Failure, SuspectLine

Checks = Sequence[Callable[[], object]]
_MAX_MESSAGE = 2000
_MAX_CODE = 200
_MAX_FACTS = 5
_NUMPY_SCALAR = re.compile(r"\bnp\.(?:float|int|uint|bool)\d*_?\(([^()]*)\)")
# Time limit of an edited version: _TIMES the student's running time, at least _MIN_SECONDS.
_MIN_SECONDS = 0.1
_TIMES = 5
_MAX_SECONDS = 0.5  # time limit of the student's version
_MAX_LINES = 2
_WEIGHT_MARGIN = 0.6  # edits that outweigh the first successful edit by more than this are skipped


def import_module(folder: WeekFolder) -> ImportFailure | None:
    """Import the student's module; return why the import failed, or None if it succeeded.

    Also return None if an optional library is missing, because the checks that need it report that.
    """
    spec = importlib.util.spec_from_file_location(folder.stem, folder.module)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[folder.stem] = module
    keyboard = sys.stdin
    try:
        with open(os.devnull, encoding="utf-8") as sys.stdin:
            spec.loader.exec_module(module)
    except BaseException as error:
        failure = _described(error, folder)
        extras = folder.week.extras
        return None if is_missing(extras, failure.error, failure.message) else failure
    finally:
        sys.stdin = keyboard
    return None


def _described(error: BaseException, folder: WeekFolder) -> ImportFailure:
    try:
        message = str(error.msg) if isinstance(error, SyntaxError) else str(error)
        message = message.replace(str(folder.path) + os.sep, "")
        return ImportFailure(type(error).__name__, message, *stopped_at(error, str(folder.path)))
    except Exception:  # the student's exception class is faulty, or a file was deleted
        return ImportFailure(type(error).__name__, "")


def explain_stopped_import(
    frame: FrameType | None, folder: WeekFolder, seconds: float, computing: bool
) -> ImportFailure:
    """Describe an import that was stopped at `frame`.

    computing: True if the import used `seconds` of processor time, False if it waited too long.
    """
    own = str(folder.path) + os.sep
    while frame is not None and not frame.f_code.co_filename.startswith(own):
        frame = frame.f_back
    place = (frame.f_code.co_filename.removeprefix(own), frame.f_lineno) if frame else ("", 0)
    if computing:
        return ImportFailure("ImportTimeout", f"{seconds:g} seconds", *place)
    return ImportFailure("", STUCK, *place)


def explain_failure(
    error: BaseException, folder: WeekFolder, exercise: str, output: str = ""
) -> Failure:
    """Describe the exception that ended a check of `exercise`. `output`: what the check printed."""
    frames = [f for f in traceback.walk_tb(error.__traceback__) if _in_folder(f[0], folder)]
    student_frames = [(f, n) for f, n in frames if not _is_test(f, folder)]
    kind, message = type(error).__name__, _message(error)
    raising = raising_frame(error)
    if isinstance(error, NotImplementedError) and any(f is raising for f, _ in student_frames):
        return _unwritten(error, folder, exercise, student_frames[-1][1])
    of_module = isinstance(error, ImportError) and error.name == folder.stem
    if of_module and f"cannot import name '{exercise}'" in message:
        return Failure("missing", output=output)
    if student_frames and "reading from stdin while output is captured" in message:
        reading, line = student_frames[-1]
        return Failure("asks", "", kind, line, _code(reading, line), (), output)
    frame, line = frames[-1] if frames else (None, 0)
    values = dict(_named_values(frame, line)) if frame else {}
    found = [f"{name}: {fact}" for name, value in values.items() if (fact := _fact(value))]
    facts = tuple(found[:_MAX_FACTS])
    if frame is None or _is_test(frame, folder):
        if isinstance(error, AssertionError):
            return Failure("wrong", message, facts=facts, output=output)
        reason = _unusable_result(kind, message, exercise)
        return Failure("wrong", reason, kind, facts=facts, output=output)
    file = Path(frame.f_code.co_filename).name
    if file != folder.week.module:
        message = f"{message} (in {file})"
    return Failure("raised", message, kind, line, _code(frame, line), facts, output)


def explain_stopped_check(frame: FrameType | None, folder: WeekFolder, message: str) -> Failure:
    """Describe a check that was stopped at `frame`; `message` is the reason."""
    while frame is not None and (not _in_folder(frame, folder) or _is_test(frame, folder)):
        frame = frame.f_back
    if frame is None:
        return Failure("timeout", message)
    line = frame.f_lineno
    return Failure("timeout", message, line=line, code=_code(frame, line))


def _unwritten(error: NotImplementedError, folder: WeekFolder, exercise: str, line: int) -> Failure:
    """Describe a stub's exception, whose argument is the name of the unwritten function."""
    name = str(error.args[0]).split(".")[0] if error.args else exercise
    if name != exercise and name in folder.names:
        return Failure("waiting", line=line, waits_for=name)
    return Failure("open", line=line)


def _in_folder(frame: FrameType, folder: WeekFolder) -> bool:
    return Path(frame.f_code.co_filename).parent == folder.path


def _is_test(frame: FrameType, folder: WeekFolder) -> bool:
    return Path(frame.f_code.co_filename) == folder.checks


def _code(frame: FrameType, line: int) -> str:
    return linecache.getline(frame.f_code.co_filename, line).strip()[:_MAX_CODE]


def _message(error: BaseException) -> str:
    """Return the message of an exception without the values that pytest adds to assertions."""
    try:
        text = str(error)
    except Exception:  # the student may have defined the exception's `__str__`
        text = "(its message cannot be shown)"
    if isinstance(error, AssertionError):
        written, added, _ = text.partition("\nassert ")
        text = written if added else text
    return _NUMPY_SCALAR.sub(r"\1", text).strip()[:_MAX_MESSAGE]


def _unusable_result(kind: str, message: str, exercise: str) -> str:
    if "NoneType" in message:
        return "It returned None instead of a value. Is a `return` missing?"
    absent = re.match(r"'(\w+)' object has no attribute '(\w+)'", message)
    if absent and absent[1] == exercise:
        return (
            f"`{exercise}` has no attribute `{absent[2]}`, which the check reads: assign "
            f"`self.{absent[2]}` in `__init__`, as the docstring describes."
        )
    called = re.match(r"([\w.]+)\(\) (?:got|takes|missing) ", message)
    if kind == "TypeError" and called and exercise in called[1].split("."):
        return f"Its parameters differ from those in the stub: restore them. {kind}: {message}"
    return f"The check cannot use the value that it returned. {kind}: {message}"


def _named_values(frame: FrameType, line: int) -> Iterator[tuple[str, Any]]:
    """Yield the local variables and attributes of `self` that a line uses, with their values."""
    try:
        tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename)))
    except (SyntaxError, ValueError):  # the file has changed since the import
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


def changed_arguments(folder: WeekFolder, exercise: str, checks: Checks) -> tuple[str, ...]:
    """Return a sentence for each tensor or array argument that the exercise changes in place."""
    module, function = sys.modules[folder.stem], getattr(sys.modules[folder.stem], exercise, None)
    if not isinstance(function, FunctionType):
        return ()
    signature, changed = inspect.signature(function), dict[str, None]()

    def watched(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        before = {n: _elements(v) for n, v in given.items() if hasattr(v, "tolist")}
        try:
            return function(*args, **kwargs)
        finally:
            changed.update((n, None) for n, old in before.items() if _elements(given[n]) != old)

    setattr(module, exercise, watched)
    for check in checks:
        with suppress(BaseException), interrupted_after(_MAX_SECONDS, elapsed=True):
            check()
    setattr(module, exercise, function)
    return tuple(f"It changes its argument `{n}` in place: compute new values." for n in changed)


def _elements(value: Any) -> str:
    """Return all elements as text, in which NaN is equal to itself."""
    return repr(value.tolist())


def find_mistake_lines(
    folder: WeekFolder, exercise: str, checks: Checks, until: float
) -> tuple[SuspectLine, ...]:
    """Return up to `_MAX_LINES` lines where a single edit makes all checks pass.

    checks: the exercise's checks, failing ones first, so that most edits are rejected early.
    until: the value of `time.process_time()` at which the search ends.
    """
    from ...repair import generate_edits  # slow to import, and used only after a failure

    source = folder.source()
    data = source.encode()
    found: dict[int, SuspectLine] = {}
    max_weight = 9.0
    began = time.monotonic()
    _passes(folder, data, checks, _MAX_SECONDS)
    seconds = max(_MIN_SECONDS, _TIMES * (time.monotonic() - began))
    for edit in generate_edits(source, exercise, frozenset(folder.names)):
        over = time.process_time() > until
        if over or len(found) >= _MAX_LINES or edit.weight > max_weight:
            break
        if edit.line not in found and _passes(folder, edit.applied(data), checks, seconds):
            max_weight = min(max_weight, edit.weight + _WEIGHT_MARGIN)
            found[edit.line] = SuspectLine(edit.line, edit.kind)
    return tuple(found.values())


def _passes(folder: WeekFolder, source: bytes, checks: Checks, seconds: float) -> bool:
    module = ModuleType(folder.stem)
    module.__file__ = str(folder.module)
    try:
        with interrupted_after(seconds, elapsed=True):
            exec(compile(source, module.__file__, "exec"), module.__dict__)
            sys.modules[module.__name__] = module
            for check in checks:
                check()
    except BaseException:  # an edited version may raise anything, even SystemExit
        return False
    return True
