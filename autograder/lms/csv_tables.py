"""Describe the class lists of learning platforms, and read and escape CSV tables.

class_lists.toml maps the fields of a student to the columns of each platform's class list. To
support a new column, spelling or platform, change only that file.

Theory of operation. Students choose names, and a spreadsheet runs a name such as
`=HYPERLINK(...)` when an instructor opens the grades. A cell that a student may have chosen gets an
apostrophe if a spreadsheet would read the cell as a formula, even with the separators of other
locales. Invisible characters become visible. Canvas and Moodle can still import the file, because
negative numbers are not escaped and the platforms identify a row by Canvas's ids or Moodle's
`Identifier`, not by the student's name. A key (login, e-mail address, id number) keeps a leading
sign if the rest has only letters, digits and `.+-_@`, because such a cell cannot be a formula.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

import msgspec

from ..model.errors import KitError
from ..model.message_text import visible

POINTS = "Points Possible"  # the first cell of Canvas's second row
KEY_FIELDS = ("login", "id", "number", "email")  # fields that identify a student


class ClassList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The format of one platform's class list.

    columns: accepted column names of each field. The field `number` is the id in the file names of
        the platform's bulk downloads.
    required: groups of fields; a class list of this platform has at least one field of each group
    student: candidates for the name in the gradebook, of which the first non-empty field is used;
        the prefix `short_` selects the part before the @
    kept: fields that the platform needs in a file with grades
    unchanged: fields that the platform wrote itself, so their cells are not escaped
    patterns: for some fields, a pattern whose first group is the value
    any_case: the case of column names does not matter
    """

    columns: dict[str, tuple[str, ...]]
    required: tuple[tuple[str, ...], ...]
    student: tuple[str, ...]
    kept: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    patterns: dict[str, str] = {}
    any_case: bool = False

    def match(self, columns: Iterable[str]) -> dict[str, str] | None:
        """Return the column of each field found, or None if a required group has no column."""
        fold = str.casefold if self.any_case else str
        # some programs save accents as separate characters
        given = {fold(unicodedata.normalize("NFC", column)): column for column in columns}
        found = {}
        for name, accepted in self.columns.items():
            spelled = (given.get(fold(column)) for column in accepted)
            if column := next(filter(None, spelled), None):
                found[name] = column
        return found if all(found.keys() & set(group) for group in self.required) else None


CLASS_LISTS = msgspec.toml.decode(
    Path(__file__).with_name("class_lists.toml").read_bytes(), type=dict[str, ClassList]
)


def read_table(path: Path) -> tuple[tuple[str, ...], list[dict[str, str]]]:
    """Return the columns and rows of a CSV file separated by commas, semicolons or tabs.

    Column names are stripped. Raise KitError if the file cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        separator = max(",;\t", key=text.split("\n", 1)[0].count)
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        header, *table = [line for line in lines if line] or [[]]
    except OSError as error:
        raise KitError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise KitError(f"{path}: not UTF-8 text: export it again as CSV") from None
    except csv.Error as error:
        raise KitError(f"{path}: not a CSV file: {error}") from None
    columns = tuple(column.strip() for column in header)
    empty = dict.fromkeys(columns, "")
    return columns, [empty | dict(zip(columns, line, strict=False)) for line in table]


def read_rows(path: Path, *required: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file, stripped; raise KitError if a required column is missing."""
    columns, rows = read_table(path)
    if rows and not set(required) <= set(columns):
        named = " and ".join(f"`{column}`" for column in required)
        raise KitError(f"{path}: needs the columns {named}")
    return [{name: cell.strip() for name, cell in row.items()} for row in rows]


_STARTS = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]")
# Matches any locale's separator before a formula, with quotes or spaces between them.
_BEHIND = re.compile(r"([;|,\t][\s\"]*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?%?")
_KEY = re.compile(r"[+-][\w.+-]*(?:@[\w.-]+)?")


def text_cell(text: object) -> str:
    """Return the text of a cell, escaped if a spreadsheet would read the text as a formula."""
    cell = "" if text is None else str(text)
    if _NUMBER.fullmatch(cell):
        return cell
    starts = _STARTS.match(cell)
    cell = _BEHIND.sub(r"\1'", visible(cell))
    return f"'{cell}" if starts else cell


def key_cell(text: str) -> str:
    """Return the cell of a key, escaped only if a spreadsheet could read it as a formula."""
    return text if _KEY.fullmatch(text) else text_cell(text)
