"""Single key presses without Return, where the terminal gives them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

ReadKey = Callable[[], str]


@contextmanager
def keys() -> Iterator[ReadKey]:
    """A function that returns the key pressed since, or "" (always, if there is no keyboard)."""
    if not sys.stdin.isatty():
        yield lambda: ""
    elif sys.platform == "win32":
        import msvcrt

        yield lambda: msvcrt.getwch() if msvcrt.kbhit() else ""
    else:
        with _without_return() as read:
            yield read


@contextmanager
def _without_return() -> Iterator[ReadKey]:
    """POSIX: line editing and echo are off inside, and as they were afterwards."""
    import os
    import select
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)

    def read() -> str:
        ready, _, _ = select.select([terminal], [], [], 0)
        return os.read(terminal, 1).decode("ascii", "ignore") if ready else ""

    try:
        tty.setcbreak(terminal)
        yield read
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
