"""Read the class list of a learning platform, and match students with its entries.

The columns identify the platform (`csv_tables.CLASS_LISTS`). A student in the gradebook is matched
by login, id or e-mail address, or by the part of the address before the @ if that part is unique.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ..model.errors import KitError
from .csv_tables import CLASS_LISTS, KEY_FIELDS, POINTS, ClassList, read_table

_TEST_STUDENT = "Student, Test"  # Canvas adds a row with this name
_STUDENT_ROLES = ("Student", "")  # roles of students in Gradescope's class list


class RosterEntry(msgspec.Struct, frozen=True):
    """A student on a class list.

    student: the name in the gradebook
    number: the platform's id, as in the file names of bulk downloads
    keys: values that identify the student
    row: the student's row in the file
    fields: the student's values by field of `csv_tables.CLASS_LISTS`
    """

    student: str
    name: str
    email: str
    number: str
    keys: tuple[str, ...]
    row: dict[str, str]
    fields: dict[str, str] = {}

    def split_name(self) -> tuple[str, str]:
        """Return the first and last name. Canvas has `Lovelace, Ada`, Moodle `Ada Lovelace`."""
        last, comma, first = self.name.partition(", ")
        if not comma:
            first, _, last = self.name.rpartition(" ")
        return first, last


class Roster(msgspec.Struct, frozen=True):
    """A class list exported from the platform `kind`. `column_of` maps fields to its columns."""

    kind: str
    columns: tuple[str, ...]
    entries: tuple[RosterEntry, ...]
    column_of: dict[str, str] = {}

    def match(self, students: Iterable[str]) -> tuple[dict[str, RosterEntry], list[str]]:
        """Return the entry of each student, and the students without a unique entry, sorted."""
        exact: dict[str, list[RosterEntry]] = {}
        local: dict[str, list[RosterEntry]] = {}
        for entry in self.entries:
            for key in {k.casefold() for k in (entry.student, *entry.keys) if k}:
                exact.setdefault(key, []).append(entry)
            if "@" in entry.email:
                local.setdefault(entry.email.split("@")[0].casefold(), []).append(entry)
        found: dict[str, RosterEntry] = {}
        unmatched = []
        for student in students:
            key = student.casefold()
            candidates = exact.get(key) or local.get(key) or []
            if len(candidates) == 1:
                found[student] = candidates[0]
            else:
                unmatched.append(student)
        uses = Counter(id(e) for e in found.values())
        double = [s for s, e in found.items() if uses[id(e)] > 1]
        return {s: e for s, e in found.items() if s not in double}, sorted([*unmatched, *double])


def read_roster(path: Path) -> Roster:
    """Read a class list; raise KitError if it is not a CSV file with the columns of a platform."""
    columns, rows = read_table(path)
    for kind, class_list in CLASS_LISTS.items():
        column_of = class_list.match(columns)
        if column_of is not None:
            entries = (_entry(class_list, row, column_of) for row in rows)
            return Roster(kind, columns, _distinct(filter(None, entries)), column_of)
    known = []
    for kind, class_list in CLASS_LISTS.items():
        required = (class_list.columns[group[0]][0] for group in class_list.required)
        known.append(f"{kind} ({', '.join(required)})")
    raise KitError(f"{path}: unknown columns: a class list is one of {', '.join(known)}")


def _entry(
    class_list: ClassList, row: dict[str, str], column_of: Mapping[str, str]
) -> RosterEntry | None:
    """Return the student of a row, or None if the row is empty or does not list a student."""
    fields = dict.fromkeys(class_list.columns, "")
    fields |= {name: row[column].strip() for name, column in column_of.items()}
    name = fields.get("name", "")
    unnamed = ("name",) in class_list.required and not name
    if unnamed or not any(row.values()) or fields.get("role", "") not in _STUDENT_ROLES:
        return None
    if name.startswith(POINTS) or name == _TEST_STUDENT:
        return None
    for key, pattern in class_list.patterns.items():
        matched = re.match(pattern, fields[key])
        fields[key] = matched.group(1) if matched else ""
    login, email = fields.get("login", ""), fields["email"]
    short = {"short_login": login.split("@")[0], "short_email": email.split("@")[0]}
    full_name = f"{fields.get('first_name', '')} {fields.get('last_name', '')}".strip()
    fields |= {"name": name or full_name, "email": email or (login if "@" in login else "")}
    return RosterEntry(
        student=next(filter(None, ((fields | short)[key] for key in class_list.student)), ""),
        name=fields["name"],
        email=fields["email"],
        number=fields["number"],
        keys=tuple(fields.get(key, "") for key in KEY_FIELDS),
        row=row,
        fields=fields,
    )


def _distinct(entries: Iterable[RosterEntry]) -> tuple[RosterEntry, ...]:
    """Make names unique by replacing equal names with e-mail addresses or numbers.

    Raise KitError if a name is still not unique, or is not a safe folder name.
    """
    every = list(entries)
    names = Counter(e.student.casefold() for e in every)
    renamed = [
        replace(e, student=e.email or e.number) if names[e.student.casefold()] > 1 else e
        for e in every
    ]
    names = Counter(e.student.casefold() for e in renamed)
    for entry in renamed:
        student = entry.student
        if names[student.casefold()] > 1:
            raise KitError(f"the class list has {student!r} twice: remove one row")
        if not student or student.startswith(".") or set(student) & set("/\\\0"):
            raise KitError(f"{student!r} cannot name a student: correct that row of the class list")
    return tuple(renamed)
