"""A class list of Canvas, Moodle, Brightspace or Gradescope, or a plain one; who in it is whom.

The header says which it is. A student of ours is matched by login, id or e-mail; by the part of the
address before the @ only if nobody else has it too.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from ..model.errors import KitError
from .headings import MOODLE, PLAIN, spelt

Kind = Literal["canvas", "moodle", "brightspace", "gradescope", "plain"]
CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POINTS = "Points Possible"
BRIGHTSPACE = ("OrgDefinedId", "Username")
GRADESCOPE = ("SID", "Email")
_TEST_STUDENT = "Student, Test"  # Canvas's, whose work is nobody's
_PARTICIPANT = re.compile(r"\D*(\d+)\Z")  # "Participant 12345", in Moodle's language


@dataclass(frozen=True)
class RosterEntry:
    """One student of the list. `number` is what bulk downloads have in their file names."""

    student: str  # the name in the gradebook
    name: str
    email: str
    number: str
    keys: tuple[str, ...]
    row: dict[str, str] = field(hash=False)


@dataclass(frozen=True)
class Roster:
    kind: Kind
    columns: tuple[str, ...]
    entries: tuple[RosterEntry, ...]
    spelling: dict[str, str] = field(default_factory=dict, hash=False)  # of known headings

    def match(self, students: Iterable[str]) -> tuple[dict[str, RosterEntry], list[str]]:
        """Match our students to roster entries; list those with no match or several."""
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
        taken = Counter(id(e) for e in found.values())
        double = [s for s, e in found.items() if taken[id(e)] > 1]
        return {s: e for s, e in found.items() if s not in double}, sorted([*unmatched, *double])


def read_roster(path: Path) -> Roster:
    """Read a class list; raises KitError if its header is none that is known."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise KitError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise KitError(f"{path}: not UTF-8 text: export it again as CSV") from None
    first = text.split("\n", 1)[0]
    separator = max(",;\t", key=first.count)
    try:
        rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error as error:
        raise KitError(f"{path}: not a CSV file: {error}") from None
    columns = tuple(
        c.strip() for c in next(csv.reader([first.strip("\r")], delimiter=separator), [])
    )
    clean = [{(k or "").strip(): v or "" for k, v in r.items() if isinstance(v, str)} for r in rows]
    if set(CANVAS[:2]) <= set(columns) and "SIS Login ID" in columns:
        kept = [r for r in clean if r["Student"].strip() and not _is_no_student(r["Student"])]
        return Roster("canvas", columns, _distinct(map(_canvas, kept)))
    filled = [r for r in clean if any(r.values())]
    if BRIGHTSPACE[0] in columns:
        return Roster("brightspace", columns, _distinct(map(_brightspace, filled)))
    if set(GRADESCOPE) <= set(columns):
        students = [r for r in filled if r.get("Role", "Student").strip() in ("Student", "")]
        return Roster("gradescope", columns, _distinct(map(_gradescope, students)))
    moodle = spelt(MOODLE, columns)
    plain = spelt(PLAIN, columns)
    if "Email address" in moodle and {"First name", "Full name", "Identifier"} & moodle.keys():
        return Roster("moodle", columns, _distinct(_moodle(r, moodle) for r in filled), moodle)
    if {"student", "id", "email"} & plain.keys():
        return Roster("plain", columns, _distinct(_plain(r, plain) for r in filled), plain)
    raise KitError(
        f"{path}: no class list that is known: it needs Canvas's columns (Student, ID, SIS Login "
        "ID), Moodle's (Email address), Brightspace's (OrgDefinedId), Gradescope's (SID, Email) "
        "or a column `student`"
    )


def _distinct(entries: Iterable[RosterEntry]) -> tuple[RosterEntry, ...]:
    """Two students never share a name in the gradebook: ada@one.org and ada@two.org keep theirs."""
    every = list(entries)
    names = Counter(e.student.casefold() for e in every)
    made = [
        replace(e, student=e.email or e.number) if names[e.student.casefold()] > 1 else e
        for e in every
    ]
    again = Counter(e.student.casefold() for e in made)
    for entry in made:
        student = entry.student
        if again[student.casefold()] > 1:
            raise KitError(f"the class list has {student!r} twice: take one row away")
        if not student or student.startswith(".") or set(student) & set("/\\\0"):
            raise KitError(f"the class list's {student!r} cannot name a student: mend that row")
    return tuple(made)


def _is_no_student(cell: str) -> bool:
    return cell.strip().startswith(POINTS) or cell.strip() == _TEST_STUDENT


def _canvas(row: dict[str, str]) -> RosterEntry:
    login, sis = row["SIS Login ID"].strip(), row.get("SIS User ID", "").strip()
    number = row["ID"].strip()
    email = login if "@" in login else row.get("Email", "").strip()
    student = login.split("@")[0] or sis or number
    return RosterEntry(
        student, row["Student"].strip(), email, number, (login, sis, number, email), row
    )


def _moodle(theirs: dict[str, str], spelling: dict[str, str]) -> RosterEntry:
    row = {name: theirs.get(column, "").strip() for name, column in spelling.items()}
    email = row["Email address"]
    names = (row.get("First name", ""), row.get("Last name", ""))
    name = row.get("Full name", "") or " ".join(n for n in names if n)
    found = _PARTICIPANT.match(row.get("Identifier", ""))
    number = found.group(1) if found else ""
    known = row.get("Username", ""), row.get("ID number", "")
    student = known[0] or email.split("@")[0] or known[1] or number
    return RosterEntry(student, name, email, number, (*known, email, number), theirs)


def _brightspace(row: dict[str, str]) -> RosterEntry:
    """Its exports write a # before both ids, so that spreadsheets leave them alone."""
    number, login = (row.get(column, "").strip().lstrip("#") for column in BRIGHTSPACE)
    names = (row.get("First Name", "").strip(), row.get("Last Name", "").strip())
    email = row.get("Email", "").strip()
    student = login.split("@")[0] or email.split("@")[0] or number
    return RosterEntry(
        student, " ".join(filter(None, names)), email, number, (login, number, email), row
    )


def _gradescope(row: dict[str, str]) -> RosterEntry:
    """Its roster and its grades have First Name and Last Name, or Name; SID may be empty."""
    number, email = row["SID"].strip(), row["Email"].strip()
    names = (row.get("First Name", "").strip(), row.get("Last Name", "").strip())
    name = row.get("Name", "").strip() or " ".join(filter(None, names))
    student = email.split("@")[0] or number
    return RosterEntry(student, name, email, number, (number, email), row)


def _plain(theirs: dict[str, str], spelling: dict[str, str]) -> RosterEntry:
    row = {name: theirs.get(column, "").strip() for name, column in spelling.items()}
    email, number = row.get("email", ""), row.get("id", "")
    student = row.get("student", "") or email.split("@")[0] or number
    names = (row.get("first_name", ""), row.get("last_name", ""))
    name = row.get("name", "") or " ".join(filter(None, names))
    return RosterEntry(student, name, email, number, (email, number), theirs)
