"""Gradescope's export of an assignment's submissions: who handed in which folder, and when.

"Download Submissions" gives a zip with a folder per submission and `submission_metadata.yml`, which
says by folder who handed it in (several, if it was a group) and when. The file is Ruby's YAML: its
keys begin with a colon. It is read with the safe loader, and only names, ids and times are taken.
A student can hand in a file of that name, to Moodle too: it is believed if it lies above all else.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import yaml

from ..model.errors import KitError
from ..model.timestamps import format_timestamp
from .roster import Roster

METADATA = "submission_metadata.yml"
_BOUND = 256 << 20  # it holds the results of autograders too
Read = Callable[[int], bytes | None]  # the content, or None if it is larger than the bound


@dataclass(frozen=True)
class Whose:
    """Whose a file is, and what it is called."""

    students: list[str]
    file: str


@dataclass
class GradescopeExport:
    """Folders by name, with their students; times as nbgrader writes them."""

    root: str
    folders: dict[str, list[str]] = field(default_factory=dict)
    times: dict[str, str] = field(default_factory=dict)

    def whose(self, name: str) -> Whose | None:
        folder, _, file = self._below(name).partition("/")
        students = self.folders.get(folder, [])
        return Whose(students, file) if file and students else None

    def is_of_somebody(self, name: str) -> bool:
        """Return whether it is a file of a submission, and not of the export itself."""
        below = self._below(name)
        return "/" in below and "__MACOSX" not in name

    def _below(self, name: str) -> str:
        return name.removeprefix(self.root) if name.startswith(self.root) else ""


def read_export(files: Sequence[tuple[str, Read]], roster: Roster) -> GradescopeExport | None:
    """Who handed in what; None if it is no export of Gradescope."""
    found = [
        (name, read)
        for name, read in files
        if PurePosixPath(name).name == METADATA and _is_above(name, files)
    ]
    if len(found) != 1:
        return None
    name, read = found[0]
    export = GradescopeExport(name.removesuffix(METADATA))
    for folder, about in _parsed(name, read(_BOUND)).items():
        if not isinstance(about, dict):
            continue
        submitters = about.get(":submitters")
        people = [p for p in submitters or [] if isinstance(p, dict)]
        students = [s for s in (_student(p, roster) for p in people) if s]
        export.folders[str(folder)] = students
        if time := _time(about.get(":created_at")):
            export.times.update(dict.fromkeys(students, time))
    return export


def _is_above(name: str, files: Sequence[tuple[str, Read]]) -> bool:
    """Return whether a file lies in the folder that holds everything, and is no student's."""
    root = name.removesuffix(METADATA)
    if root.count("/") > 1 or "_assignsubmission_file" in root:
        return False
    return all(n.startswith((root, "__MACOSX/")) for n, _ in files)


def _parsed(name: str, data: bytes | None) -> dict[Any, Any]:
    if data is None:
        raise KitError(f"{name}: larger than {_BOUND >> 20} MiB")
    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        found = yaml.load(data.decode("utf-8"), loader)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise KitError(f"{name}: not what Gradescope writes: {str(error)[:120]}") from None
    if not isinstance(found, dict):
        raise KitError(f"{name}: not what Gradescope writes: no submissions stand in it")
    return found


def _student(person: dict[Any, Any], roster: Roster) -> str:
    """The student of the class list who has that id, else that address; "" if nobody has."""
    for key in (":sid", ":email"):
        value = str(person.get(key) or "").strip()
        if value and (matched := roster.match([value])[0].get(value)):
            return matched.student
    return ""


def _time(value: object) -> str:
    """A time of Ruby's YAML, as nbgrader writes times; "" if there is none."""
    if isinstance(value, str):
        try:
            value = dt.datetime.fromisoformat(value)
        except ValueError:
            return ""
    return format_timestamp(value) if isinstance(value, dt.datetime) else ""
