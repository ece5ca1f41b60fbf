"""The student's terminal. rich is imported when something is shown, not before."""

from __future__ import annotations

import contextlib
import sys
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
