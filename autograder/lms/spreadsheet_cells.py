"""Cells of a file that somebody opens in a spreadsheet, which runs what looks like a formula.

Theory of operation. Students choose names; a name such as `=HYPERLINK(...)` is run by the
spreadsheet of whoever opens the grades before uploading them. Every text that a student may have
chosen gets an apostrophe before it where a spreadsheet would see a formula, also behind a
separator of other countries' files; what cannot be seen is shown (model/visible.py). What Canvas
and Moodle read back is not changed: numbers (a negative one is no formula), Canvas's ids and
Moodle's `Identifier` find the row, names are not compared. A key (login, e-mail, id number) keeps a
leading sign where it holds nothing but letters, digits and `.+-_@`, which no spreadsheet can run.
"""

from __future__ import annotations

import re

from ..model.visible import visible

_STARTS = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]")
# Where the separator is another one, what stands behind it may itself be quoted.
_BEHIND = re.compile(r"([;|,\t][\s\"]*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?%?")
_KEY = re.compile(r"[+-][\w.+-]*(?:@[\w.-]+)?")


def text_cell(text: object) -> str:
    """A text that no spreadsheet takes for a formula."""
    cell = "" if text is None else str(text)
    if _NUMBER.fullmatch(cell):
        return cell
    starts = _STARTS.match(cell)
    cell = _BEHIND.sub(r"\1'", visible(cell))
    return f"'{cell}" if starts else cell


def key_cell(text: str) -> str:
    """A key by which a learning platform finds its row: unchanged, unless it could be run."""
    return text if _KEY.fullmatch(text) else text_cell(text)
