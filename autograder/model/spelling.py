"""Suggest the closest known name for a misspelt one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name."""
    known = sorted(known)
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if close:
        return f": did you mean {close[0]!r}?"
    return f"; there are {', '.join(known)}" if known else "; there is none"
