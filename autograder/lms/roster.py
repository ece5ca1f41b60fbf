"""A class list as Canvas or Moodle exports it, or a plain one, and who in it is whom.

The header says which it is. A student of ours is matched by login, id or e-mail; by the part of the
address before the @ only where nobody else has it too.
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

Kind = Literal["canvas", "moodle", "plain"]
CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POINTS = "Points Possible"
_PARTICIPANT = re.compile(r"\D*(\d+)\Z")  # "Participant 12345", in Moodle's language


@dataclass(frozen=True)
class Entry:
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
    entries: tuple[Entry, ...]

    def match(self, students: Iterable[str]) -> tuple[dict[str, Entry], list[str]]:
        """Who of ours is which entry, and who is none or more than one."""
        exact: dict[str, list[Entry]] = {}
        local: dict[str, list[Entry]] = {}
        for entry in self.entries:
            for key in {k.casefold() for k in (entry.student, *entry.keys) if k}:
                exact.setdefault(key, []).append(entry)
            if "@" in entry.email:
                local.setdefault(entry.email.split("@")[0].casefold(), []).append(entry)
        found: dict[str, Entry] = {}
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
    """Read a class list; raises KitError where its header is none that is known."""
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
        kept = [r for r in clean if r["Student"].strip() and not _is_points(r["Student"])]
        return Roster("canvas", columns, _distinct(map(_canvas, kept)))
    if "Email address" in columns:
        return Roster("moodle", columns, _distinct(_moodle(r) for r in clean if any(r.values())))
    if "student" in columns:
        return Roster("plain", columns, _distinct(_plain(r) for r in clean if r["student"].strip()))
    raise KitError(
        f"{path}: no class list that is known: it needs Canvas's columns (Student, ID, SIS Login "
        "ID), Moodle's (Email address), or a column `student`"
    )


def _distinct(entries: Iterable[Entry]) -> tuple[Entry, ...]:
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


def _is_points(cell: str) -> bool:
    return cell.strip().startswith(POINTS)


def _canvas(row: dict[str, str]) -> Entry:
    login, sis = row["SIS Login ID"].strip(), row.get("SIS User ID", "").strip()
    number = row["ID"].strip()
    email = login if "@" in login else row.get("Email", "").strip()
    student = login.split("@")[0] or sis or number
    return Entry(student, row["Student"].strip(), email, number, (login, sis, number, email), row)


def _moodle(row: dict[str, str]) -> Entry:
    email = row["Email address"].strip()
    names = (row.get("First name", ""), row.get("Last name", "") or row.get("Surname", ""))
    name = row.get("Full name", "").strip() or " ".join(n.strip() for n in names if n.strip())
    found = _PARTICIPANT.match(row.get("Identifier", "").strip())
    number = found.group(1) if found else ""
    known = row.get("Username", "").strip(), row.get("ID number", "").strip()
    student = known[0] or email.split("@")[0] or known[1] or number
    return Entry(student, name, email, number, (*known, email, number), row)


def _plain(row: dict[str, str]) -> Entry:
    student, email = row["student"].strip(), row.get("email", "").strip()
    number = row.get("id", "").strip()
    return Entry(student, row.get("name", "").strip(), email, number, (email, number), row)
