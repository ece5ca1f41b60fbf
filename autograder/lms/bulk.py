"""Sort the files of a bulk download from Moodle, Canvas or Gradescope by student.

Theory of operation. The platform created the archive, but students chose the names and contents of
their files, and a file may be a zip file itself. No file is executed or written to the path in its
name. Links and names with unusual characters are skipped, and sizes are limited before reading. The
intake checks the files again when they are graded.

    Moodle   Ada Lovelace_12345_assignsubmission_file_/lines.py
    Canvas   lovelaceada_LATE_12345_67890_lines-1.py
    Gradescope   assignment_12_export/submission_34/lines.py, and submission_metadata.yml

Gradescope's metadata lists the students of each folder (several for a group) and the submission
time, in Ruby's YAML, whose keys begin with a colon. The metadata is read with the safe loader
and only from the top folder, because students can submit a file with the same name.
"""

import datetime as dt
import io
import re
import stat
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath

import msgspec

from ..batch.module_name import files_in, folders_with
from ..model.course import Course, Week
from ..model.errors import KitError
from ..model.submission_files import FROM_NBGRADER, format_timestamp
from .roster import Roster, RosterEntry

_MOODLE = re.compile(r"(?P<name>.+)_(?P<number>\d+)_assignsubmission_file_?\Z")
_CANVAS = re.compile(r"[^_]+_(?P<late>LATE_)?(?P<number>\d+)_\d+_(?P<file>.+)\Z")
_RESUBMISSION = re.compile(r"-\d+(?=\.\w+\Z)")  # Canvas numbers the files of resubmissions
_PLAIN = re.compile(r"[\w(][\w .()+,-]*\Z")
_MAX_ENTRIES = 100_000
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)

_METADATA = "submission_metadata.yml"
_MAX_METADATA = 256 << 20  # the metadata also contains Gradescope's own results
_MOST_UNREADABLE = 20  # files; each may take as long to read as a whole submission

Read = Callable[[int], bytes | None]  # returns the content, or None if it exceeds the bound
FilesRead = tuple[dict[str, bytes], list[str]]  # accepted files, a line for each rejected file
Placed = tuple[list[str], str, bool]  # students, file name in the submission, late (Canvas)
# (student, files, submission time in nbgrader's format or "") -> remarks for the instructor
Accept = Callable[[str, dict[str, bytes], str], list[str]]


class Found(msgspec.Struct):
    """The submissions in a bulk download, or in students' repositories.

    collected, missing: students with and without a submission
    facts: remarks for the instructor
    unmatched: files that match no student on the class list
    problems: remarks about files and submissions that were not accepted
    """

    collected: list[str] = []
    missing: list[str] = []
    facts: list[str] = []
    unmatched: list[str] = []
    problems: list[str] = []


def collect_bulk(course: Course, week: Week, path: Path, roster: Roster, accept: Accept) -> Found:
    """Sort the files of a zip or folder by student, and pass each student's files to `accept`."""
    found, late, times = Found(), set[str](), dict[str, str]()
    by_student: dict[str, dict[str, Read]] = defaultdict(dict)
    with _opened(path) as entries:
        listed = list(entries)
        export, numbers = _read_export(listed, roster), _moodle_numbers(n for n, _ in listed)
        if export:
            times = export.times
        for name, read in listed:
            placed = export.place(name) if export else _place(name, roster, numbers)
            if placed is None:
                continue
            students, file, is_late = placed
            for student in students:
                by_student[student][file] = read
            if not students:
                found.unmatched.append(name)
            elif is_late:
                late.update(students)
        bound = course.limits(week).submission_mib << 20
        for student, files in sorted(by_student.items()):
            content, left_out = content_from(files, week, bound)
            found.problems += [f"{student}: {line}" for line in left_out]
            if content:
                try:
                    found.problems += accept(student, content, times.get(student, ""))
                    found.collected.append(student)
                except (OSError, KitError) as error:
                    found.problems.append(f"{student}: could not be stored: {error}")
    found.missing = sorted({e.student for e in roster.entries} - set(found.collected))
    if late:
        found.facts.append(f"late according to Canvas: {', '.join(sorted(late))}")
    if not times.keys() >= set(found.collected):
        line = "some submissions have no time in the download: they are not counted as late"
        found.facts.append(line)
    return found


def _moodle_numbers(names: Iterable[str]) -> dict[str, set[str]]:
    """Map each student name in Moodle's folders to the numbers of the students with that name."""
    found: dict[str, set[str]] = {}
    for name in names:
        if moodle := next(filter(None, map(_MOODLE.match, PurePosixPath(name).parts[:-1])), None):
            found.setdefault(_words(moodle["name"]), set()).add(moodle["number"])
    return found


def _words(name: str) -> str:
    return " ".join(sorted(name.casefold().split()))


def _place(name: str, roster: Roster, numbers: Mapping[str, set[str]]) -> Placed:
    """Return the student ([] if unknown), file name and lateness of a Moodle or Canvas file."""
    parts = PurePosixPath(name).parts
    entry, file, late = None, "", False
    for depth, part in enumerate(parts[:-1]):
        if moodle := _MOODLE.match(part):
            # a name identifies a student only if it is unique
            unique = len(numbers[_words(moodle["name"])]) == 1
            entry = _find_entry(roster, moodle["number"], moodle["name"] if unique else "")
            file = "/".join(parts[depth + 1 :])
            break
    else:
        if canvas := _CANVAS.match(parts[-1]):
            entry, late = _find_entry(roster, canvas["number"], ""), bool(canvas["late"])
            file = _RESUBMISSION.sub("", canvas["file"])
    return [entry.student] if entry else [], file, late


def _find_entry(roster: Roster, number: str, name: str) -> RosterEntry | None:
    """Return the entry with this number, or else this name; None if there is not exactly one.

    The order of the words in the name does not matter.
    """
    found = [e for e in roster.entries if e.number == number]
    if not found and name:
        found = [e for e in roster.entries if _words(e.name) == _words(name)]
    return found[0] if len(found) == 1 else None


def content_from(files: Mapping[str, Read], week: Week, bound: int) -> FilesRead:
    """Read one student's files; return the accepted files and a line for each rejected file.

    If the module is missing and there is exactly one zip file, the files in the zip are used.

    bound: limit in bytes on the total size of the files, and of the zip's contents
    """
    content, left_out = _read_all(files.items(), bound)
    zips = [n for n in content if n.lower().endswith(".zip")]
    if len(zips) == 1 and not any(PurePosixPath(n).name == week.module for n in content):
        try:
            with zipfile.ZipFile(io.BytesIO(content.pop(zips[0]))) as archive:
                inside, unreadable = _read_all(_zip_entries(archive), bound)
            content |= inside
            left_out += unreadable
        except (*_BROKEN, KitError, ValueError) as error:
            left_out.append(f"the zip cannot be opened: {error}")
    folders = {str(p) for n in content for p in PurePosixPath(n).parents}
    kept = {n: d for n, d in content.items() if _safe(n) and n not in folders}
    left_out += [f"{n!r}: not a plain file name" for n in content if n not in kept]
    # nbgrader trusts its own files, so students must not supply them
    own = {n: d for n, d in kept.items() if PurePosixPath(n).name not in FROM_NBGRADER}
    places = folders_with(own, week.module)
    if len(places) == 1:  # otherwise the intake reports the missing or repeated module
        own = files_in(own, places[0])
    return own, left_out


def content_of(files: Mapping[str, bytes], week: Week, bound: int) -> FilesRead:
    """Apply `content_from` to files in memory."""
    return content_from({n: partial(_bounded, d) for n, d in files.items()}, week, bound)


def _bounded(data: bytes, bound: int) -> bytes | None:
    return data if len(data) <= bound else None


def _read_all(files: Iterable[tuple[str, Read]], bound: int) -> FilesRead:
    """Read files up to a total size of `bound` bytes; return a line for each file not read."""
    content: dict[str, bytes] = {}
    unreadable = []
    for name, read in files:
        if (data := read(bound)) is None:
            unreadable.append(f"{name}: too large or damaged")
            if len(unreadable) == _MOST_UNREADABLE:
                unreadable.append("the remaining files were not read")
                break
            continue
        bound -= len(data)
        content[name] = data
    return content, unreadable


def _safe(name: str) -> bool:
    parts = name.split("/")
    return len(name) < 400 and all(_PLAIN.match(p) and len(p.encode()) < 200 for p in parts)


# Gradescope's export


class _Submitter(msgspec.Struct, rename=":{}".format):
    sid: str | int | None = None
    email: str | None = None


class _Metadata(msgspec.Struct, rename=":{}".format):
    """The metadata of one submission, without Gradescope's results."""

    submitters: list[_Submitter] | None = None
    created_at: dt.datetime | None = None


class _GradescopeExport(msgspec.Struct):
    """The students of each folder, and submission times by student in nbgrader's format."""

    root: str
    folders: dict[str, list[str]] = {}
    times: dict[str, str] = {}

    def place(self, name: str) -> Placed | None:
        """Return the students of a file, or None if the file is not part of a submission."""
        folder, _, file = name.removeprefix(self.root).partition("/")
        if not name.startswith(self.root) or not file or "__MACOSX" in name:
            return None
        return self.folders.get(folder, []), file, False


def _read_export(files: Sequence[tuple[str, Read]], roster: Roster) -> _GradescopeExport | None:
    """Read the metadata; return None if this is not a Gradescope export."""
    found = [f for f in files if PurePosixPath(f[0]).name == _METADATA and _is_on_top(f[0], files)]
    if len(found) != 1:
        return None
    ((name, read),) = found
    export, data = _GradescopeExport(name.removesuffix(_METADATA)), read(_MAX_METADATA)
    if data is None:
        raise KitError(f"{name}: larger than {_MAX_METADATA >> 20} MiB")
    try:
        submissions = msgspec.yaml.decode(data, type=dict[str, _Metadata])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise KitError(f"{name}: not Gradescope's metadata: {str(error)[:120]}") from None
    for folder, about in submissions.items():
        students = list(filter(None, (_student(p, roster) for p in about.submitters or ())))
        export.folders[folder] = students
        if about.created_at:
            export.times.update(dict.fromkeys(students, format_timestamp(about.created_at)))
    return export


def _is_on_top(name: str, files: Sequence[tuple[str, Read]]) -> bool:
    """Return True if the metadata file is in the top folder, which has no students' files."""
    root = name.removesuffix(_METADATA)
    if root.count("/") > 1 or "_assignsubmission_file" in root:
        return False
    return all(n.startswith((root, "__MACOSX/")) for n, _ in files)


def _student(person: _Submitter, roster: Roster) -> str:
    """Return the student with a submitter's id or e-mail address, or "" if no entry matches."""
    for value in filter(None, (str(person.sid or "").strip(), (person.email or "").strip())):
        if matched := roster.match([value])[0].get(value):
            return matched.student
    return ""


# Reading folders and archives


@contextmanager
def _opened(path: Path) -> Iterator[Iterator[tuple[str, Read]]]:
    """Open a folder or zip; yield pairs of a file's name and a function that reads the file."""
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
    for path in sorted(root.rglob("*")):  # rglob does not follow links to folders
        if stat.S_ISREG(path.lstat().st_mode):
            yield path.relative_to(root).as_posix(), partial(_read_file, path)


def _read_file(path: Path, bound: int) -> bytes | None:
    return path.read_bytes() if path.stat().st_size <= bound else None


def _zip_entries(archive: zipfile.ZipFile) -> Iterator[tuple[str, Read]]:
    infos = archive.infolist()
    if len(infos) > _MAX_ENTRIES:
        raise KitError(f"the archive lists {len(infos)} files, more than any class submits")
    for info in infos:
        if not info.is_dir() and stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG):
            yield info.filename.replace("\\", "/"), partial(_read_member, archive, info)


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, bound: int) -> bytes | None:
    rare = info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    if rare or info.file_size > bound:
        return None
    try:
        with archive.open(info) as file:
            return _bounded(file.read(bound + 1), bound)  # the size in the zip may be wrong
    except _BROKEN:
        return None
