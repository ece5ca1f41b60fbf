"""Import the student's module once, before any check runs.

The module is imported as in grading: from its file, even if a library has the same name, and
without standard input. If the import fails, no check runs, and the student sees one message.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from types import FrameType

from ...model.availability import is_missing
from ...model.source.import_failure import STUCK, ImportFailure
from ...worker.stop_location import stopped_at
from ..folder.week import WeekFolder


def import_module(folder: WeekFolder) -> ImportFailure | None:
    """Import the student's module; return why the import failed, or None.

    If a library of an optional exercise is missing, the checks of that exercise report it instead.
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
    frame: FrameType | None, folder: WeekFolder, seconds: float, computing: bool
) -> ImportFailure:
    """Describe an import that was stopped at `frame` after `seconds`."""
    own = str(folder.path) + os.sep
    while frame is not None and not frame.f_code.co_filename.startswith(own):
        frame = frame.f_back
    place = (frame.f_code.co_filename.removeprefix(own), frame.f_lineno) if frame else ("", 0)
    if computing:
        return ImportFailure("ImportTimeout", f"{seconds:g} seconds", *place)
    return ImportFailure("", STUCK, *place)
