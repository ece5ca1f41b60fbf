"""Describe the class lists of learning platforms, and read and escape CSV tables.

`CLASS_LISTS` maps the fields of a student to the columns of each platform's class list. Moodle's
columns are listed in English, German, French and Spanish. To support a new column, spelling or
platform, change only this table.

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
from dataclasses import dataclass, field
from pathlib import Path

from ..model.errors import KitError
from ..model.message_text import visible

POINTS = "Points Possible"  # the first cell of Canvas's second row
KEY_FIELDS = ("login", "id", "number", "email")  # fields that identify a student


@dataclass(frozen=True)
class ClassList:
    """The format of one platform's class list.

    columns: accepted column names of each field, separated by commas. The field `number` is the
        id in the file names of the platform's bulk downloads.
    required: groups of fields; a class list of this platform has at least one field of each group
    student: candidates for the name in the gradebook, of which the first non-empty field is used;
        the prefix `short_` selects the part before the @
    kept: fields that the platform needs in a file with grades
    unchanged: fields that the platform wrote itself, so their cells are not escaped
    patterns: for some fields, a pattern whose first group is the value
    any_case: the case of column names does not matter
    """

    columns: dict[str, str]
    required: tuple[tuple[str, ...], ...]
    student: tuple[str, ...]
    kept: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    patterns: dict[str, re.Pattern[str]] = field(default_factory=dict)
    any_case: bool = False

    def match(self, columns: Iterable[str]) -> dict[str, str] | None:
        """Return the column of each field found, or None if a required group has no column."""
        fold = str.casefold if self.any_case else str
        # some programs save accents as separate characters
        given = {fold(unicodedata.normalize("NFC", column)): column for column in columns}
        found = {}
        for name, accepted in self.columns.items():
            spelled = (given.get(fold(column)) for column in accepted.split(", "))
            if column := next(filter(None, spelled), None):
                found[name] = column
        return found if all(found.keys() & set(group) for group in self.required) else None


_NAMES = {"first_name": "First Name", "last_name": "Last Name"}
_HASHED = re.compile(r"#*(.*)")  # Brightspace's # keeps spreadsheets from changing ids
CLASS_LISTS = {
    "canvas": ClassList(
        {
            "name": "Student",
            "number": "ID",
            "id": "SIS User ID",
            "login": "SIS Login ID",
            "email": "Email",
            "section": "Section",
        },
        required=(("name",), ("number",), ("login",)),
        student=("short_login", "id", "number"),
        kept=("name", "number", "id", "login", "section"),
    ),
    "brightspace": ClassList(
        {"number": "OrgDefinedId", "login": "Username", "email": "Email", **_NAMES},
        required=(("number",),),
        student=("short_login", "short_email", "number"),
        kept=("number", "login"),
        patterns={"number": _HASHED, "login": _HASHED},
    ),
    "gradescope": ClassList(
        {"number": "SID", "email": "Email", "name": "Name", "role": "Role", **_NAMES},
        required=(("number",), ("email",)),
        student=("short_email", "number"),
    ),
    "moodle": ClassList(
        {
            "number": "Identifier, Identifikator, Identifiant, Identificador",
            "login": "Username, Anmeldename, Nutzername, Nom d'utilisateur, Nombre de usuario",
            "id": "ID number, ID-Nummer, Matrikelnummer, Numéro d'identification, Número de ID",
            "email": "Email address, E-Mail-Adresse, E-Mail, Adresse de courriel, Adresse e-mail, "
            "Dirección de correo, Dirección Email, Correo electrónico",
            "name": "Full name, Vollständiger Name, Nom complet, Nombre completo",
            "first_name": "First name, Vorname, Prénom, Nombre",
            "last_name": "Last name, Surname, Nachname, Nom, Nom de famille, Apellidos, "
            "Apellido(s)",
            "grade": "Grade, Bewertung, Note, Calificación",
            "comment": "Feedback comments",
        },
        required=(("email",), ("first_name", "name", "number")),
        student=("login", "short_email", "id", "number"),
        kept=("login", "id", "email"),
        unchanged=("number", "grade", "comment"),
        patterns={"number": re.compile(r"\D*(\d+)\Z")},  # "Participant 12345", in any language
        any_case=True,
    ),
    "plain": ClassList(
        {
            "login": "student, student_id, login, user, username, netid, sid",
            "number": "id, number, matriculation, student number",
            "email": "email, e-mail, mail, email address",
            "name": "name, full_name, full name, student name",
            "first_name": "first_name, first name, firstname, given name, vorname, prénom, nombre",
            "last_name": "last_name, last name, lastname, surname, nachname, nom, apellidos",
        },
        required=(("login", "number", "email"),),
        student=("login", "short_email", "number"),
        any_case=True,
    ),
}


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
