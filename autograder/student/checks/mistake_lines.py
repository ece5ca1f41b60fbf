"""Where a failing check's mistake may stand: small changes of the student's own code, tried out.

Runs in the checking Python after the checks, for a moment of processor time, and tells lines and
kinds, never a change. It must never be in the way: what hangs is stopped, what breaks is no news.
"""

from __future__ import annotations

import io
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from types import FrameType, ModuleType
from typing import Any

from ...repair import changes
from ..folder.week import WeekFolder
from .results import Spot

SECONDS = 0.8  # of processor time, for all exercises together
_OF_ONE = 0.1  # of it for one version, or this many times what the student's own took
_TIMES = 5
_REAL = 0.5  # of real time for one version, which may sleep
_PLACES = 2
_ALSO = 0.6  # less likely than the first change that does, by so much, is not tried any more

Check = Callable[[], Any]


class _TooLong(BaseException):
    """A version does not end; no `except Exception` of the student's catches it."""


class Lines:
    """Looks for lines in a week's module, as long as its time lasts."""

    def __init__(self, folder: WeekFolder, seconds: float = SECONDS) -> None:
        self._folder, self._until = folder, time.process_time() + seconds
        self._source = folder.source()

    def of(self, exercise: str, checks: Sequence[Check]) -> tuple[Spot, ...]:
        """Lines where one change makes all checks of an exercise pass; failing ones come first."""
        if not _can_stop():
            return ()
        found: dict[int, Spot] = {}
        enough = 9.0
        data = self._source.encode()
        with _quietly(), _module_kept(self._folder.week.module.removesuffix(".py")):
            began = time.process_time()
            self._passes(data, checks, _REAL)
            each = max(_OF_ONE, _TIMES * (time.process_time() - began))
            for change in changes(self._source, exercise, frozenset(self._folder.names)):
                over = time.process_time() > self._until
                if over or len(found) >= _PLACES or change.weight > enough:
                    break
                if change.line not in found and self._passes(change.applied(data), checks, each):
                    enough = min(enough, change.weight + _ALSO)
                    found[change.line] = Spot(change.line, change.kind)
        return tuple(found.values())

    def _passes(self, source: bytes, checks: Sequence[Check], seconds: float) -> bool:
        name = self._folder.week.module.removesuffix(".py")
        module = ModuleType(name)
        module.__file__ = str(self._folder.module)
        try:
            with _stopped_after(seconds):
                exec(compile(source, module.__file__, "exec"), module.__dict__)
                sys.modules[name] = module
                for check in checks:
                    check()
        except BaseException:  # whatever a version of the student's code does
            return False
        return True


def _can_stop() -> bool:
    """Whether a version that hangs can be stopped here."""
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


@contextmanager
def _stopped_after(seconds: float) -> Iterator[None]:
    """Stop what takes so much processor time, or sleeps for long."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise _TooLong

    clocks = (
        (signal.SIGPROF, signal.ITIMER_PROF, seconds),
        (signal.SIGALRM, signal.ITIMER_REAL, max(seconds, _REAL)),
    )
    before = [signal.signal(number, stop) for number, _, _ in clocks]
    for _, clock, limit in clocks:
        signal.setitimer(clock, limit)
    try:
        yield
    finally:
        for (number, clock, _), handler in zip(clocks, before, strict=True):
            signal.setitimer(clock, 0.0)
            signal.signal(number, handler)


@contextmanager
def _module_kept(name: str) -> Iterator[None]:
    before = sys.modules.get(name)
    try:
        yield
    finally:
        if before is not None:
            sys.modules[name] = before


@contextmanager
def _quietly() -> Iterator[None]:
    nowhere = io.StringIO()
    with (
        warnings.catch_warnings(),
        redirect_stdout(nowhere),
        redirect_stderr(nowhere),
    ):
        warnings.simplefilter("ignore")
        yield
