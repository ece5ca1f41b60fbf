"""Import the student's module once, before any check runs.

It is imported as the grader imports it: from its file, even if a library has the same name, and
without a keyboard. If the import fails, no check runs, and the student reads one sentence.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import warnings
from types import FrameType

from ...model.extras import is_missing
from ...model.source.import_failure import STUCK, ImportFailure
from ...worker.stop_location import stopped_at
from ..folder.week import WeekFolder


class DoesNotRun(Exception):
    """The student's module cannot be imported."""

    def __init__(self, failure: ImportFailure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def require_syntax(module: str, source: str) -> None:
    """Raise DoesNotRun if the source is not Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, module, "exec", dont_inherit=True)
    except SyntaxError as error:
        place = error.lineno or 0, error.offset or 0
        raise DoesNotRun(ImportFailure(type(error).__name__, error.msg, "", *place)) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise DoesNotRun(ImportFailure(type(error).__name__, str(error))) from None


def import_module(folder: WeekFolder) -> ImportFailure | None:
    """Import the student's module; return why that failed, or None.

    A missing library that belongs to an optional exercise is reported by its checks instead.
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
    except Exception:  # raised by a hostile exception, or because a file was deleted
        return ImportFailure(type(error).__name__, "")


def still_importing(
    frame: FrameType | None, folder: WeekFolder, seconds: float, works: bool
) -> ImportFailure:
    """Describe an import that is stopped at `frame`; `works`: it used up its processor time."""
    own = str(folder.path) + os.sep
    while frame is not None and not frame.f_code.co_filename.startswith(own):
        frame = frame.f_back
    place = (frame.f_code.co_filename.removeprefix(own), frame.f_lineno) if frame else ("", 0)
    if works:
        return ImportFailure("ImportTimeout", f"{seconds:g} seconds", *place)
    return ImportFailure("", STUCK, *place)
