"""Small changes of a program, to find the line where its mistake is. See `changes.py`."""

from .alike import Wording, wording, wording_of_module
from .changes import Change, changes, essential
from .code import NO_PYTHON, foreign_lines, in_common
from .finding import condition_of, ignored, maker_of, parameters
from .words import named
from .wrapping import wrappers

__all__ = [
    "NO_PYTHON",
    "Change",
    "Wording",
    "changes",
    "condition_of",
    "essential",
    "foreign_lines",
    "ignored",
    "in_common",
    "maker_of",
    "named",
    "parameters",
    "wording",
    "wording_of_module",
    "wrappers",
]
