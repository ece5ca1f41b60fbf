"""Escape cells that a spreadsheet would run as formulas.

Theory of operation. Students choose names, and a spreadsheet runs a name such as
`=HYPERLINK(...)` when an instructor opens the grades. A text that a student may have chosen gets an
apostrophe if a spreadsheet would read it as a formula, also after the separators of other locales;
invisible characters are made visible (model/visible.py). Values that Canvas and Moodle read back do
not change: numbers (a negative number is not a formula), Canvas's ids and Moodle's `Identifier`
find the row, and names are not compared. A key (login, e-mail, id number) keeps a leading sign if
it has only letters, digits and `.+-_@`, which cannot be a formula.
"""

from __future__ import annotations

import re

from ..model.message_text import visible

_STARTS = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]")
# With a different separator, the text after it may itself be quoted.
_BEHIND = re.compile(r"([;|,\t][\s\"]*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?%?")
_KEY = re.compile(r"[+-][\w.+-]*(?:@[\w.-]+)?")


def text_cell(text: object) -> str:
    """Escape a text so that a spreadsheet does not run it as a formula."""
    cell = "" if text is None else str(text)
    if _NUMBER.fullmatch(cell):
        return cell
    starts = _STARTS.match(cell)
    cell = _BEHIND.sub(r"\1'", visible(cell))
    return f"'{cell}" if starts else cell


def key_cell(text: str) -> str:
    """Return a key by which a learning platform finds its row, escaped only if necessary."""
    return text if _KEY.fullmatch(text) else text_cell(text)
