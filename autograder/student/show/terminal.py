"""The student's terminal: output, and single key presses.

rich is imported when something is shown, not before.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def console() -> Console:
    """Return a console on standard output that replaces characters it cannot encode."""
    from ...terminal.console import terminal

    with contextlib.suppress(AttributeError, ValueError):
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # text, in a terminal
    return terminal(highlight=False)


def writes_unicode(console: Console) -> bool:
    return (console.encoding or "").lower().replace("-", "").startswith("utf")


@contextmanager
def key_presses() -> Iterator[Callable[[], str]]:
    """Yield a function that returns the key pressed since, or "" (always without a keyboard).

    On POSIX, line editing and echo are off inside and are restored afterwards.
    """
    if not sys.stdin.isatty():
        yield lambda: ""
        return
    if sys.platform == "win32":
        import msvcrt

        yield lambda: msvcrt.getwch() if msvcrt.kbhit() else ""
        return
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
