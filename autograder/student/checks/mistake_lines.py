"""Locate a mistake by trying small edits of the student's code against the failing checks.

Runs in the checking process after the checks, within a small budget of processor time; the process
ends afterwards. Only the line and the kind of an edit are reported, never the edit itself. An
edited version that hangs is stopped, and errors are ignored.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any

from ...repair import generate_edits
from ..folder.week import WeekFolder
from .check_results import SuspectLine

SECONDS = 0.8  # of processor time, for all exercises together
_MIN_SECONDS = 0.1  # for one edited version, or _TIMES the time of the student's version if longer
_TIMES = 5
_MAX_SECONDS = 0.5  # for the student's version
_MAX_LINES = 2
_WEIGHT_MARGIN = 0.6  # edits this much less likely than the first match are not tried

Check = Callable[[], Any]


class _Timeout(BaseException):
    """An edited version runs too long. Not an Exception, so that its code does not catch it."""


class MistakeLines:
    """Search the lines of a week's module until the time budget is used up."""

    def __init__(self, folder: WeekFolder, seconds: float = SECONDS) -> None:
        self._folder, self._until = folder, time.process_time() + seconds
        self._source = folder.source()

    def find(self, exercise: str, checks: Sequence[Check]) -> tuple[SuspectLine, ...]:
        """Return the lines where a single edit makes all checks pass.

        checks: with the failing ones first, so that most edits are rejected early
        """
        if not hasattr(signal, "setitimer"):  # a version that hangs could not be stopped
            return ()
        found: dict[int, SuspectLine] = {}
        max_weight = 9.0
        data = self._source.encode()
        began = time.monotonic()
        self._passes(data, checks, _MAX_SECONDS)
        seconds = max(_MIN_SECONDS, _TIMES * (time.monotonic() - began))
        for edit in generate_edits(self._source, exercise, frozenset(self._folder.names)):
            over = time.process_time() > self._until
            if over or len(found) >= _MAX_LINES or edit.weight > max_weight:
                break
            if edit.line not in found and self._passes(edit.applied(data), checks, seconds):
                max_weight = min(max_weight, edit.weight + _WEIGHT_MARGIN)
                found[edit.line] = SuspectLine(edit.line, edit.kind)
        return tuple(found.values())

    def _passes(self, source: bytes, checks: Sequence[Check], seconds: float) -> bool:
        module = ModuleType(self._folder.stem)
        module.__file__ = str(self._folder.module)
        try:
            with _stopped_after(seconds):
                exec(compile(source, module.__file__, "exec"), module.__dict__)
                sys.modules[module.__name__] = module
                for check in checks:
                    check()
        except BaseException:  # an edited version may raise anything, even SystemExit
            return False
        return True


@contextmanager
def _stopped_after(seconds: float) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise _Timeout

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
