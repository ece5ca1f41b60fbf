"""Small changes of a program, to find the line where its mistake is. See `changes.py`."""

from .adapters import wrappers
from .candidates import Change, changes, essential
from .edit_location import condition_of, ignored, maker_of, parameters
from .edit_wording import named
from .same_program import Wording, wording, wording_of_module
from .source_text import NO_PYTHON, foreign_lines, in_common

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
