"""Read a class list from Canvas, Moodle, Brightspace or Gradescope, or a plain one.

The header identifies the platform (columns.py). A student in the gradebook is matched by login, id
or e-mail address, or by the part of the address before the @ if it is unique.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..model.errors import KitError
from .csv_tables import CLASS_LISTS, KEY_FIELDS, POINTS, Kind, match_columns

_TEST_STUDENT = "Student, Test"  # a row that Canvas adds
_PARTICIPANT = re.compile(r"\D*(\d+)\Z")  # "Participant 12345", in Moodle's language


@dataclass(frozen=True)
class RosterEntry:
    """A student on the class list. `number` appears in the file names of bulk downloads."""

    student: str  # the name in the gradebook
    name: str
    email: str
    number: str
    keys: tuple[str, ...]
    row: dict[str, str] = field(hash=False)


@dataclass(frozen=True)
class Roster:
    """A class list. `spelling` maps known columns to their names in this list."""

    kind: Kind
    columns: tuple[str, ...]
    entries: tuple[RosterEntry, ...]
    spelling: dict[str, str] = field(default_factory=dict, hash=False)

    def match(self, students: Iterable[str]) -> tuple[dict[str, RosterEntry], list[str]]:
        """Return the entry of each student, and the students without a unique matching entry."""
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
    """Read a class list; raise KitError if it is not a CSV file with known columns."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise KitError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise KitError(f"{path}: not UTF-8 text: export it again as CSV") from None
    separator = max(",;\t", key=text.split("\n", 1)[0].count)
    try:
        table = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error as error:
        raise KitError(f"{path}: not a CSV file: {error}") from None
    columns = tuple(column.strip() for column in (table or [[]])[0])
    rows = [dict.fromkeys(columns, "") | dict(zip(columns, row, strict=False)) for row in table[1:]]
    for kind in CLASS_LISTS:
        spelling = match_columns(kind, columns)
        if spelling is not None:
            students = (row for row in rows if _is_student(kind, row))
            entries = _distinct(_entry(kind, row, spelling) for row in students)
            return Roster(kind, columns, entries, spelling)
    raise KitError(
        f"{path}: unknown columns: a class list has Canvas's columns (Student, ID, SIS Login ID), "
        "Moodle's (Email address), Brightspace's (OrgDefinedId), Gradescope's (SID, Email) or a "
        "column `student`"
    )


def _is_student(kind: Kind, row: Mapping[str, str]) -> bool:
    """Return False for empty rows, Canvas's extra rows and Gradescope's instructors."""
    if kind == "canvas":
        name = row["Student"].strip()
        return bool(name) and not name.startswith(POINTS) and name != _TEST_STUDENT
    if kind == "gradescope" and row.get("Role", "Student").strip() not in ("Student", ""):
        return False
    return any(row.values())


def _entry(kind: Kind, row: dict[str, str], spelling: Mapping[str, str]) -> RosterEntry:
    class_list = CLASS_LISTS[kind]
    fields = {
        name: row.get(spelling.get(column, column), "").strip()
        for name, column in class_list.columns.items()
    }
    if kind == "brightspace":  # prefixes ids with # to keep spreadsheets from changing them
        fields |= {name: fields[name].lstrip("#") for name in ("number", "login")}
    if kind == "moodle":
        participant = _PARTICIPANT.match(fields["number"])
        fields["number"] = participant.group(1) if participant else ""
    if kind == "canvas" and "@" in fields["login"]:
        fields["email"] = fields["login"]
    email, number = fields["email"], fields["number"]
    short = {f"short_{name}": fields.get(name, "").split("@")[0] for name in ("login", "email")}
    names = (fields.get("first_name", ""), fields.get("last_name", ""))
    return RosterEntry(
        student=next(filter(None, ((fields | short)[name] for name in class_list.student)), ""),
        name=fields.get("name", "") or " ".join(filter(None, names)),
        email=email,
        number=number,
        keys=tuple(fields.get(name, "") for name in KEY_FIELDS),
        row=row,
    )


def _distinct(entries: Iterable[RosterEntry]) -> tuple[RosterEntry, ...]:
    """Give every student a unique name: ada@one.org and ada@two.org keep their whole addresses."""
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
