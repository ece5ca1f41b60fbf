"""Sort the files of a bulk download from Moodle, Canvas or Gradescope by student.

Theory of operation. The platform made the archive, but students chose the names and contents of
their files, and a file may be a zip file itself. No file is executed or unpacked to the path in its
name: names with unusual characters are skipped, sizes are limited before reading, and links are
skipped. The intake checks the files again when they are graded.

    Moodle   Ada Lovelace_12345_assignsubmission_file_/softmax.py
    Canvas   lovelaceada_LATE_12345_67890_softmax-1.py
    Gradescope   assignment_12_export/submission_34/softmax.py, and submission_metadata.yml
"""

from __future__ import annotations

import io
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ..model.course import Course, Week
from ..model.errors import KitError
from .gradescope_export import Read, read_export
from .roster import Roster, RosterEntry

_MOODLE = re.compile(r"(?P<name>.+)_(?P<number>\d+)_assignsubmission_file_?\Z")
_CANVAS = re.compile(r"[^_]+_(?P<late>LATE_)?(?P<number>\d+)_\d+_(?P<file>.+)\Z")
_AGAIN = re.compile(r"-\d+(?=\.\w+\Z)")  # Canvas numbers resubmissions
_PLAIN = re.compile(r"[\w ()+,-][\w .()+,-]*\Z")
_MAX_ENTRIES = 100_000
_NBGRADER_FILES = ("timestamp.txt", "submission_secret.txt")  # nbgrader trusts them
_UNREADABLE = "too large or damaged"
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)

# (student, files, time as nbgrader writes it or "") -> remarks for the instructor
Accept = Callable[[str, dict[str, bytes], str], list[str]]


@dataclass
class Found:
    """The content of a bulk download."""

    collected: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)  # as Canvas marks them
    unmatched: list[str] = field(default_factory=list)  # files of no student on the class list
    left_out: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    timed: list[str] = field(default_factory=list)  # students whose submission time is known


def collect_bulk(course: Course, week: Week, path: Path, roster: Roster, accept: Accept) -> Found:
    """Sort the files of a zip or folder by student, and accept each student's files."""
    found = Found()
    by_student: dict[str, dict[str, Read]] = {}
    with _opened(path) as entries:
        listed = list(entries)
        export, named = read_export(listed, roster), _named(n for n, _ in listed)
        for name, read in listed:
            if export is not None:
                if owner := export.owner_of(name):
                    for student in owner.students:
                        by_student.setdefault(student, {})[owner.file] = read
                elif export.is_submission_file(name):
                    found.unmatched.append(name)
                continue
            place = _place(name, roster, named)
            if place is None:
                found.unmatched.append(name)
                continue
            student, file, late = place
            by_student.setdefault(student, {})[file] = read
            if late and student not in found.late:
                found.late.append(student)
        bound = course.limits(week).submission_mib << 20
        for student, files in sorted(by_student.items()):
            content = content_from(student, files, week, bound, found)
            if content:
                time = export.times.get(student, "") if export is not None else ""
                if time:
                    found.timed.append(student)
                found.left_out += accept(student, content, time)
                found.collected.append(student)
    found.missing = sorted({e.student for e in roster.entries} - set(found.collected))
    return found


def _named(names: Iterable[str]) -> dict[str, set[str]]:
    """Return the Moodle participants with each name, ignoring the order of its words."""
    found: dict[str, set[str]] = {}
    for name in names:
        if moodle := next(filter(None, map(_MOODLE.match, PurePosixPath(name).parts[:-1])), None):
            found.setdefault(_words(moodle["name"]), set()).add(moodle["number"])
    return found


def _words(name: str) -> str:
    return " ".join(sorted(name.casefold().split()))


def _place(
    name: str, roster: Roster, named: Mapping[str, set[str]]
) -> tuple[str, str, bool] | None:
    """Return (student, file name, late according to Canvas), or None if there is no student."""
    parts = PurePosixPath(name).parts
    for depth, part in enumerate(parts[:-1]):
        if moodle := _MOODLE.match(part):
            # a name identifies a student only if it is unique
            alone = len(named[_words(moodle["name"])]) == 1
            entry = _one(roster, moodle["number"], moodle["name"] if alone else "")
            return (entry.student, "/".join(parts[depth + 1 :]), False) if entry else None
    if canvas := _CANVAS.match(parts[-1]):
        entry = _one(roster, canvas["number"], "")
        if entry:
            return entry.student, _AGAIN.sub("", canvas["file"]), bool(canvas["late"])
    return None


def _one(roster: Roster, number: str, name: str) -> RosterEntry | None:
    """Return the entry with this number, or the only one with this name in any word order."""
    numbered = [e for e in roster.entries if e.number == number]
    if not numbered and name:
        words = _words(name)
        numbered = [e for e in roster.entries if _words(e.name) == words]
    return numbered[0] if len(numbered) == 1 else None


def content_from(
    student: str, files: dict[str, Read], week: Week, bound: int, found: Found
) -> dict[str, bytes]:
    """Return the files to accept; a single zip file is unpacked if there is no module."""
    content: dict[str, bytes] = {}
    left = bound
    for name, read in files.items():
        data = read(left)
        if data is None:
            found.left_out.append(f"{student}: {name}: {_UNREADABLE}")
            continue
        left -= len(data)
        content[name] = data
    zips = [n for n in content if n.lower().endswith(".zip")]
    if len(zips) == 1 and not any(PurePosixPath(n).name == week.module for n in content):
        content |= _unzipped(student, content.pop(zips[0]), bound, found)
    folders = {str(p) for n in content for p in PurePosixPath(n).parents}
    kept = {n: d for n, d in content.items() if _safe(n) and n not in folders}
    found.left_out += [f"{student}: {n!r}: not a plain file name" for n in content if n not in kept]
    return {n: d for n, d in _rooted(kept, week).items() if n not in _NBGRADER_FILES}


def content_of(
    files: dict[str, bytes], week: Week, bound: int
) -> tuple[dict[str, bytes], list[str]]:
    """Return one student's files, with a zip file unpacked, and lines about skipped files."""
    found = Found()

    def reader(data: bytes) -> Read:
        return lambda most: data if len(data) <= most else None

    content = content_from("", {n: reader(d) for n, d in files.items()}, week, bound, found)
    return content, [line.removeprefix(": ") for line in found.left_out]


def _safe(name: str) -> bool:
    parts = name.split("/")
    return len(name) < 400 and all(_PLAIN.match(p) and len(p.encode()) < 200 for p in parts)


def _rooted(content: dict[str, bytes], week: Week) -> dict[str, bytes]:
    """Return the files in the folder of the module, relative to it."""
    places = [PurePosixPath(n).parent for n in content if PurePosixPath(n).name == week.module]
    if len(places) != 1:
        return content  # the intake explains the problem
    pairs = [(PurePosixPath(n), data) for n, data in content.items()]
    return {p.relative_to(places[0]).as_posix(): d for p, d in pairs if p.is_relative_to(places[0])}


def _unzipped(student: str, data: bytes, bound: int, found: Found) -> dict[str, bytes]:
    content: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name, read in _zip_entries(archive):
                if (one := read(bound - sum(map(len, content.values())))) is None:
                    found.left_out.append(f"{student}: {name}: {_UNREADABLE}")
                else:
                    content[name] = one
    except (*_BROKEN, KitError, ValueError) as error:
        found.left_out.append(f"{student}: the zip cannot be opened: {error}")
    return content


# Reading folders and archives


@contextmanager
def _opened(path: Path) -> Iterator[Iterator[tuple[str, Read]]]:
    """Open a folder or zip; yield the name of each file with a function that reads it."""
    if path.is_dir():
        yield _folder_entries(path)
        return
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile, ValueError) as error:
        raise KitError(f"{path}: neither a folder nor a zip that can be opened: {error}") from None
    with archive:
        yield _zip_entries(archive)


def _folder_entries(root: Path) -> Iterator[tuple[str, Read]]:
    for folder, folders, files in os.walk(root, followlinks=False):
        folders.sort()
        for name in sorted(files):
            path = Path(folder) / name
            if stat.S_ISREG(path.lstat().st_mode):
                yield path.relative_to(root).as_posix(), _reader_of(path)


def _reader_of(path: Path) -> Read:
    def read(bound: int) -> bytes | None:
        if path.stat().st_size > bound:
            return None
        return path.read_bytes()

    return read


def _zip_entries(archive: zipfile.ZipFile) -> Iterator[tuple[str, Read]]:
    infos = archive.infolist()
    if len(infos) > _MAX_ENTRIES:
        raise KitError(f"the archive lists {len(infos)} files, more than any class submits")
    for info in infos:
        if not info.is_dir() and stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG):
            yield info.filename.replace("\\", "/"), _member(archive, info)


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Read:
    def read(bound: int) -> bytes | None:
        rare = info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        if rare or info.file_size > bound:
            return None
        try:
            with archive.open(info) as file:
                data = file.read(bound + 1)  # the stated size may be wrong
        except _BROKEN:
            return None
        return data if len(data) <= bound else None

    return read
