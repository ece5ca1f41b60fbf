"""Small changes of a program, to find the line where its mistake is. See `changes.py`."""

from .changes import Change, changes, wording

__all__ = ["Change", "changes", "wording"]
