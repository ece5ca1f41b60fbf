"""A limit of processor time, with a limit of wall-clock time behind it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 5.0  # wall-clock limit in multiples of the limit: machines are busy, code may wait
_INTERVAL = 0.05  # seconds
OnTimeout = Callable[[str, bool], None]


@contextmanager
def time_limited(seconds: float, on_timeout: OnTimeout) -> Iterator[None]:
    """Call `on_timeout` from a thread when this process has used that much processor time.

    It receives the message for the student, and whether processor time ran out. With several
    computing threads, elapsed time counts, not the sum over threads.
    """
    ended = threading.Event()
    began, before = time.monotonic(), time.process_time()

    def watch() -> None:
        left = seconds
        while not ended.wait(max(left, _INTERVAL)):
            wall, used = time.monotonic() - began, time.process_time() - before
            if min(wall, used) >= seconds:
                message = (
                    f"It was stopped after {seconds:g} seconds of processor time. "
                    "Is there a loop that never ends?"
                )
                return on_timeout(message, True)
            if wall >= PATIENCE * seconds:
                return on_timeout(waiting_message(wall), False)
            left = min(seconds - min(wall, used), PATIENCE * seconds - wall)

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def waiting_message(seconds: float) -> str:
    """Return the message for code that was stopped without using its processor time."""
    return (
        f"It was stopped after {seconds:.0f} seconds, although it had processor time left. Does it "
        "wait for something, such as `time.sleep` or a lock?"
    )
