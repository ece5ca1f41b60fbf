"""Locate the line in a submission where an import stopped or a call was made."""

import dis
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from types import FrameType, TracebackType
from typing import Any

_RAISE = dis.opmap["RAISE_VARARGS"]


class ImportTimeout(BaseException):
    """Raised when an import or an edited module exceeds its time limit, which the message states.

    `except Exception` in the submission cannot catch it.
    """


@contextmanager
def interrupted_after(seconds: float, *, elapsed: bool = False) -> Iterator[None]:
    """Raise ImportTimeout in the main thread after `seconds` of processor time (0: no limit).

    elapsed: whether to limit the elapsed time instead
    """
    if not seconds:  # do not set a timer, which some systems lack
        yield
        return
    timer, sent = signal.ITIMER_PROF, signal.SIGPROF
    if elapsed:
        timer, sent = signal.ITIMER_REAL, signal.SIGALRM

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise ImportTimeout(f"{seconds:g} seconds")

    signal.signal(sent, interrupt)
    signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(sent, signal.SIG_DFL)


def stopped_at(error: BaseException, root: str) -> tuple[str, int, int]:
    """Return the file, line and column of a syntax error in `root` or of the innermost frame there.

    The file is relative to `root`. Lines and columns start at 1, and are 0 if unknown. Returns
    ("", 0, 0) if the traceback contains no file in `root`.
    """
    own = root + os.sep
    if isinstance(error, SyntaxError) and str(error.filename).startswith(own):
        name = str(error.filename)
        return name.removeprefix(own), error.lineno or 0, max(0, error.offset or 0)
    trace, last = error.__traceback__, None
    while trace is not None:
        last = trace if trace.tb_frame.f_code.co_filename.startswith(own) else last
        trace = trace.tb_next
    if last is None:
        return "", 0, 0
    return last.tb_frame.f_code.co_filename.removeprefix(own), last.tb_lineno, _column(last)


def raising_frame(error: BaseException) -> FrameType | None:
    """Return the frame whose `raise` statement raised an exception, or None if there is none."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or trace.tb_frame.f_code.co_code[trace.tb_lasti] != _RAISE:
        return None
    return trace.tb_frame


def _column(trace: TracebackType) -> int:
    """Return the column (from 1, in characters) of the expression that raised, or 0 if unknown."""
    code = trace.tb_frame.f_code
    positions = next(islice(code.co_positions(), trace.tb_lasti // 2, None), None)
    start = positions[2] if positions is not None else None
    if start is None:
        return 0
    with open(code.co_filename, "rb") as file:
        line = next(islice(file, trace.tb_lineno - 1, None), b"")
    return 1 + len(line[:start].decode("utf-8", "ignore"))


def student_line(frame: Any, root: str) -> int | None:
    """Return the line of the innermost frame that runs a file in `root`, or None if none does."""
    while frame is not None:
        if root and frame.f_code.co_filename.startswith(root + os.sep):
            return int(frame.f_lineno)
        frame = frame.f_back
    return None
