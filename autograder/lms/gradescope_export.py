"""Read Gradescope's export of an assignment: the students and the time of each submission.

"Download Submissions" gives a zip with a folder per submission and `submission_metadata.yml`, which
lists the students (several for a group) and the time of each folder. The file is Ruby's YAML: its
keys begin with a colon. It is read with the safe loader, and only names, ids and times are used.
Students can submit a file with this name, also to Moodle, so it is only read from the top folder.
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
_BOUND = 256 << 20  # it also has the results of autograders
Read = Callable[[int], bytes | None]  # the content, or None if it is larger than the bound


@dataclass
class GradescopeExport:
    """The students of each folder, and times as nbgrader writes them."""

    root: str
    folders: dict[str, list[str]] = field(default_factory=dict)
    times: dict[str, str] = field(default_factory=dict)

    def place(self, name: str) -> tuple[list[str], str] | None:
        """Return a file's students and its name in their submission; None for other files."""
        folder, _, file = name.removeprefix(self.root).partition("/")
        if not name.startswith(self.root) or not file or "__MACOSX" in name:
            return None
        return self.folders.get(folder, []), file


def read_export(files: Sequence[tuple[str, Read]], roster: Roster) -> GradescopeExport | None:
    """Read the metadata; return None if this is not a Gradescope export."""
    found = [one for one in files if PurePosixPath(one[0]).name == METADATA]
    found = [(name, read) for name, read in found if _is_above(name, files)]
    if len(found) != 1:
        return None
    name, read = found[0]
    export = GradescopeExport(name.removesuffix(METADATA))
    for folder, about in _parsed(name, read(_BOUND)).items():
        if isinstance(about, dict):
            people = [p for p in about.get(":submitters") or [] if isinstance(p, dict)]
            students = [s for s in (_student(p, roster) for p in people) if s]
            export.folders[str(folder)] = students
            if time := _time(about.get(":created_at")):
                export.times.update(dict.fromkeys(students, time))
    return export


def _is_above(name: str, files: Sequence[tuple[str, Read]]) -> bool:
    """Return True if all files are in the folder of this file, so it is not a student's."""
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
        raise KitError(f"{name}: not what Gradescope writes: it has no submissions")
    return found


def _student(person: dict[Any, Any], roster: Roster) -> str:
    """Return the student with this id or e-mail address in the class list, or ""."""
    for key in (":sid", ":email"):
        value = str(person.get(key) or "").strip()
        if value and (matched := roster.match([value])[0].get(value)):
            return matched.student
    return ""


def _time(value: object) -> str:
    """Convert a time from Ruby's YAML to the form that nbgrader writes, or ""."""
    if isinstance(value, str):
        try:
            value = dt.datetime.fromisoformat(value)
        except ValueError:
            return ""
    return format_timestamp(value) if isinstance(value, dt.datetime) else ""
