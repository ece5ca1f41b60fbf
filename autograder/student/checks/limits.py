"""A limit of processor time, with a limit of wall-clock time behind it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 5.0  # so many times the processor time: a machine may be busy, and code may wait
_OFTEN = 0.05  # seconds
# Told why it is over, and whether by processor time.
Over = Callable[[str, bool], None]


@contextmanager
def limited(seconds: float, over: Over) -> Iterator[None]:
    """Call `over` from a thread once this process has used so many seconds of processor time.

    Threads that compute side by side use the clock's seconds together, not each its own.
    """
    ended = threading.Event()
    began, before = time.monotonic(), time.process_time()

    def watch() -> None:
        left = seconds
        while not ended.wait(max(left, _OFTEN)):
            wall, used = time.monotonic() - began, time.process_time() - before
            if min(wall, used) >= seconds:
                return over(worked(seconds), True)
            if wall >= PATIENCE * seconds:
                return over(waited(wall), False)
            left = min(seconds - min(wall, used), PATIENCE * seconds - wall)

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def worked(seconds: float) -> str:
    """What is said of code that used up its processor time."""
    return (
        f"It was stopped after {seconds:g} seconds of processor time. "
        "Is there a loop that never ends?"
    )


def waited(seconds: float) -> str:
    """What is said of code that took too long without computing all the while."""
    return (
        f"It was stopped after {seconds:.0f} seconds, though it had processor time left. Does it "
        "wait for something, such as `time.sleep` or a lock?"
    )
