"""Read class lists of all learning platforms, and write cells that a spreadsheet does not run.

`CLASS_LISTS` maps the fields of a student to the columns of each platform. A list is read by the
English name of a column and written back under its original one; `SPELLINGS` has the other names:
those of Moodle's language packs (English, German, French and Spanish) and common ones in plain
lists. To support a new column or spelling, add one line here.

Theory of operation. Students choose names, and a spreadsheet runs a name such as
`=HYPERLINK(...)` when an instructor opens the grades. A text that a student may have chosen gets an
apostrophe if a spreadsheet would read it as a formula, also after the separators of other locales;
invisible characters are made visible. Values that Canvas and Moodle read back do not change:
numbers (a negative number is not a formula), Canvas's ids and Moodle's `Identifier` find the row,
and names are not compared. A key (login, e-mail, id number) keeps a leading sign if it has only
letters, digits and `.+-_@`, which cannot be a formula.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..model.errors import KitError
from ..model.message_text import visible

Kind = Literal["canvas", "brightspace", "gradescope", "moodle", "plain"]
POINTS = "Points Possible"  # the first cell of Canvas's second row
KEY_FIELDS = ("login", "id", "number", "email")  # identify a student


@dataclass(frozen=True)
class ClassList:
    """The class list of one platform.

    columns: the column of each field. `number` appears in the file names of bulk downloads.
    required: groups of columns that identify the platform; one column of each group is enough.
    student: the fields for the name in the gradebook, of which the first that is not empty is used;
    `short_` means the part before the @.
    kept: the columns that the platform reads back with grades.
    """

    columns: dict[str, str]
    required: tuple[tuple[str, ...], ...]
    student: tuple[str, ...]
    kept: tuple[str, ...] = ()


_NAMES = {"first_name": "First Name", "last_name": "Last Name"}
CLASS_LISTS: dict[Kind, ClassList] = {
    "canvas": ClassList(
        {
            "name": "Student",
            "number": "ID",
            "id": "SIS User ID",
            "login": "SIS Login ID",
            "email": "Email",
        },
        required=(("Student",), ("ID",), ("SIS Login ID",)),
        student=("short_login", "id", "number"),
        kept=("Student", "ID", "SIS User ID", "SIS Login ID", "Section"),
    ),
    "brightspace": ClassList(
        {"number": "OrgDefinedId", "login": "Username", "email": "Email", **_NAMES},
        required=(("OrgDefinedId",),),
        student=("short_login", "short_email", "number"),
        kept=("OrgDefinedId", "Username"),
    ),
    "gradescope": ClassList(
        {"number": "SID", "email": "Email", "name": "Name", **_NAMES},
        required=(("SID",), ("Email",)),
        student=("short_email", "number"),
    ),
    "moodle": ClassList(
        {
            "number": "Identifier",
            "login": "Username",
            "id": "ID number",
            "email": "Email address",
            "name": "Full name",
            "first_name": "First name",
            "last_name": "Last name",
            "grade": "Grade",
        },
        required=(("Email address",), ("First name", "Full name", "Identifier")),
        student=("login", "short_email", "id", "number"),
        kept=("Username", "ID number", "Email address"),
    ),
    "plain": ClassList(
        {
            "login": "student",
            "number": "id",
            "email": "email",
            "name": "name",
            "first_name": "first_name",
            "last_name": "last_name",
        },
        required=(("student", "id", "email"),),
        student=("login", "short_email", "number"),
    ),
}
SPELLINGS: dict[Kind, dict[str, tuple[str, ...]]] = {
    "moodle": {
        "First name": ("Vorname", "Prénom", "Nombre"),
        "Last name": ("Surname", "Nachname", "Nom", "Nom de famille", "Apellido(s)", "Apellidos"),
        "Full name": ("Vollständiger Name", "Nom complet", "Nombre completo"),
        "Email address": (
            "E-Mail-Adresse",
            "E-Mail",
            "Adresse de courriel",
            "Adresse e-mail",
            "Dirección de correo",
            "Dirección Email",
            "Correo electrónico",
        ),
        "ID number": ("ID-Nummer", "Matrikelnummer", "Numéro d'identification", "Número de ID"),
        "Username": ("Anmeldename", "Nutzername", "Nom d'utilisateur", "Nombre de usuario"),
        "Identifier": ("Identifikator", "Identifiant", "Identificador"),
        "Grade": ("Bewertung", "Note", "Calificación"),
    },
    "plain": {
        "student": ("student_id", "login", "user", "username", "netid", "sid"),
        "name": ("full_name", "full name", "student name"),
        "first_name": ("first name", "firstname", "given name", "vorname", "prénom", "nombre"),
        "last_name": ("last name", "lastname", "surname", "nachname", "nom", "apellidos"),
        "email": ("e-mail", "mail", "email address"),
        "id": ("number", "matriculation", "student number"),
    },
}


def match_columns(kind: Kind, columns: Iterable[str]) -> dict[str, str] | None:
    """Return the list's spelling of each known column, or None if it is from another platform."""
    class_list, more = CLASS_LISTS[kind], SPELLINGS.get(kind, {})
    fold = str.casefold if more else str
    given = {fold(column): column for column in columns}
    found = {}
    for name in (*class_list.columns.values(), *class_list.kept):
        spellings = map(fold, (name, *more.get(name, ())))
        spelled = next((given[s] for s in spellings if s in given), None)
        if spelled is not None:
            found[name] = spelled
    return found if all(any(c in found for c in group) for group in class_list.required) else None


def read_rows(path: Path, *columns: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file, with cells and column names stripped.

    Raise KitError if the file cannot be read or lacks one of the columns.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [
                {name.strip(): (cell or "").strip() for name, cell in row.items() if name}
                for row in csv.DictReader(file)
            ]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise KitError(f"{path}: cannot be read: {error}") from None
    if rows and not set(columns) <= rows[0].keys():
        named = " and ".join(f"`{column}`" for column in columns)
        raise KitError(f"{path}: needs the columns {named}")
    return rows


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
