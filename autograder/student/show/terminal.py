"""The student's terminal. rich is imported when something is shown, not before."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def console() -> Console:
    """Standard output that never fails over a character it cannot show."""
    from ...terminal.console import terminal

    with contextlib.suppress(AttributeError, ValueError):
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # text, in a terminal
    return terminal(highlight=False)
