"""Small changes of a program, to find the line where its mistake is. See `changes.py`."""

from .alike import Wording, wording
from .changes import Change, changes, essential
from .code import NO_PYTHON, foreign_lines, in_common
from .words import named

__all__ = [
    "NO_PYTHON",
    "Change",
    "Wording",
    "changes",
    "essential",
    "foreign_lines",
    "in_common",
    "named",
    "wording",
]
