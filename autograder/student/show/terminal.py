"""The student's terminal."""

from __future__ import annotations

import contextlib
import sys

from rich.console import Console

from ...terminal.console import terminal


def console() -> Console:
    """Return a console on standard output that replaces characters it cannot encode."""
    with contextlib.suppress(AttributeError, ValueError):
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # text, in a terminal
    return terminal(highlight=False)


def writes_unicode(console: Console) -> bool:
    return (console.encoding or "").lower().replace("-", "").startswith("utf")
