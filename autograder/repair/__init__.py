"""Small changes of a program, to find the line where its mistake is. See `changes.py`."""

from .changes import Change, changes

__all__ = ["Change", "changes"]
