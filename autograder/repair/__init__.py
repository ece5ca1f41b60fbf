"""Small changes of a program, to find the line where its mistake is. See `changes.py`."""

from .changes import Change, changes, essential, wording
from .words import named

__all__ = ["Change", "changes", "essential", "named", "wording"]
