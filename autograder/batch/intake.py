"""Taking a submission: plain files, bounded, nothing executed.

Theory of operation. A submission is a folder, a module file or a zip that a stranger made. Names
may be absolute, climb out, clash or be no text; entries may be links, pipes or devices; archives
may unpack to terabytes, list millions of entries, or ask their decompressor for gigabytes. Only
regular Python and small data files with ordinary relative names are read, into memory, up to the
bounds of course.yaml; nothing is written to disk here. Whatever does not fit makes the submission
`refused`, with a message that says what to hand in instead.
"""

from __future__ import annotations

import io
import os
import stat
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from os.path import splitext
from pathlib import Path, PurePosixPath
from typing import overload

import msgspec

from ..model.course.loader import Limits, Week
from ..model.notes import Note
from ..model.quoting import quoted
from ..model.source.import_failure import not_text
from ..model.source.reachable import MOST_SIGNS, signs_in
from .module_name import with_module

IGNORED_FOLDERS = {
    *("__pycache__", ".ipynb_checkpoints", ".git", "__MACOSX", ".vscode", ".idea"),
    "kept",  # where `autograder reset` leaves a student's earlier files
}
# What a submission's own code may want beside it. Never collected: conftest.py, pytest.ini, .pth.
_KEPT_SUFFIXES = {".py", ".txt", ".json", ".csv", ".npy"}
_MAX_NAME = 200
_MAX_ENTRIES = 10_000
_MAX_DEPTH = 40
# Its syntax tree is read on the trusted side.
_MAX_MODULE = 256 << 10
# (relative name, content or None if it is too large to be read, size)
_Entries = Iterator[tuple[str, bytes | None, int]]


class Submission(msgspec.Struct, frozen=True):
    """What one student handed in; `problem` says why it cannot be graded, if so.

    `notes` say what was odd about it and put right.
    """

    name: str
    files: dict[str, bytes] = {}
    problem: str = ""
    notes: tuple[Note, ...] = ()


class Unread(Sequence[Submission]):
    """Submissions that are read whenever they are looked at: a class of thousands stays on disk."""

    def __init__(self, readers: Iterable[Callable[[], Submission]]) -> None:
        self._readers = tuple(readers)

    def __len__(self) -> int:
        return len(self._readers)

    @overload
    def __getitem__(self, number: int) -> Submission: ...
    @overload
    def __getitem__(self, number: slice) -> Unread: ...
    def __getitem__(self, number: int | slice) -> Submission | Unread:
        if isinstance(number, slice):
            return Unread(self._readers[number])
        return self._readers[number]()


class _Refused(Exception):
    """Ends the intake of one submission; the message is for the student."""


def read_submission(path: Path, week: Week, limits: Limits, name: str | None = None) -> Submission:
    """Read a folder, a module file or a zip. Never raises for what a student handed in."""
    shown = clean_name(name if name is not None else path.name.removesuffix(".zip"))
    return _taken(lambda: _entries(path, week, limits), week, limits, shown)


def read_files(files: Mapping[str, bytes], week: Week, limits: Limits, name: str) -> Submission:
    """Read what is in memory already, as `read_submission` reads a folder that holds it."""
    return _taken(lambda: _given_entries(files), week, limits, clean_name(name))


def _taken(entries: Callable[[], _Entries], week: Week, limits: Limits, shown: str) -> Submission:
    try:
        files, notes = with_module(_bounded(entries(), limits), week)
        files = _rooted_at_module(files, week)
        _check_module(files[week.module], week)
    except _Refused as refused:
        return Submission(shown, problem=str(refused))
    except OSError as error:
        return Submission(shown, problem=f"It cannot be read: {error.strerror or error}.")
    except UnicodeError:
        return Submission(shown, problem="A file name in it is not valid text. Rename it.")
    except ValueError:  # a path with a null byte
        return Submission(shown, problem="It cannot be read: its name is not valid text.")
    return Submission(shown, files, notes=notes)


def clean_name(name: str) -> str:
    """A submission's name as it may be shown: printable, normalised, of bounded length."""
    text = name.encode("utf-8", "replace").decode("utf-8")
    text = unicodedata.normalize("NFC", text)
    return "".join(c if c.isprintable() else "�" for c in text)[:_MAX_NAME] or "unnamed"


def _entries(path: Path, week: Week, limits: Limits) -> _Entries:
    """(relative name, content or None to be read by the caller's bound, size)."""
    mode = os.lstat(path).st_mode
    if stat.S_ISDIR(mode):
        yield from _folder_entries(path)
    elif not stat.S_ISREG(mode):
        raise _Refused("It is neither a folder, nor a file, nor a zip archive.")
    elif path.suffix.lower() == ".zip":
        yield from _zip_entries(path, limits)
    else:
        content, size = _read_regular(path, None)
        yield week.module, content, size


def _given_entries(files: Mapping[str, bytes]) -> _Entries:
    for name in sorted(files):
        if _wanted(name):
            yield name, files[name], len(files[name])


def _folder_entries(root: Path) -> _Entries:
    # Names are handled as text: a class of thousands has a hundred thousand of them.
    seen, above = 0, len(str(root))
    for folder, folders, files in os.walk(str(root), followlinks=False):
        folders[:] = sorted(f for f in folders if f not in IGNORED_FOLDERS)
        seen += len(folders) + len(files)
        within = folder[above:].strip("/")
        if seen > _MAX_ENTRIES or (within and within.count("/") >= _MAX_DEPTH):
            raise _Refused("It holds too many folders or files. Hand in only your week's folder.")
        for name in sorted(files):
            path = f"{folder}/{name}"
            relative = f"{within}/{name}" if within else name
            if not _wanted(relative):
                continue
            if not stat.S_ISREG(os.lstat(path).st_mode):
                raise _Refused(
                    f"{_quoted(relative)} is a link or a special file. Copy the file itself."
                )
            content, size = _read_regular(path, None)
            yield relative, content, size


_READ_BOUND = 64 << 20
_ZIP_OVERHEAD = 1 << 20


def _read_regular(path: Path | str, bound: int | None) -> tuple[bytes | None, int]:
    """A regular file's content; opened without following links or waiting for a pipe."""
    descriptor = os.open(
        path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    )
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _Refused("It is neither a folder, nor a file, nor a zip archive.")
        if status.st_size > (bound or _READ_BOUND):
            return None, status.st_size
        return file.read((bound or _READ_BOUND) + 1), status.st_size


def _zip_entries(path: Path, limits: Limits) -> _Entries:
    # Bounded before it is opened: the whole list of entries is read then. An archive is no larger
    # than what it holds, give or take its names.
    content, _ = _read_regular(path, (limits.submission_mib << 20) + _ZIP_OVERHEAD)
    if content is None:
        raise _Refused(
            f"The zip is larger than {limits.submission_mib} MiB. Zip only your week's folder."
        )
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            if len(entries) > _MAX_ENTRIES:
                raise _Refused(
                    f"The zip holds {len(entries)} entries. Zip only your week's folder."
                )
            for info in entries:
                name = info.filename.replace("\\", "/")
                if info.is_dir() or not _wanted(name):
                    continue
                kind = stat.S_IFMT(info.external_attr >> 16)
                if kind not in (0, stat.S_IFREG):
                    raise _Refused(f"{_quoted(name)} in the zip is a link or a special file.")
                if info.file_size > _READ_BOUND:
                    yield name, None, info.file_size
                    continue
                if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise _Refused(
                        f"{_quoted(name)} is packed by a rare method. Make the zip with your "
                        "system's own menu or with `zip -r`."
                    )
                with archive.open(info) as file:
                    content = file.read(_READ_BOUND + 1)
                yield name, content, len(content)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise _Refused(
            f"The zip archive cannot be opened ({str(error)[:80]}). Make a new one."
        ) from None
    except Exception as error:  # zlib, lzma and bz2 have errors of their own for broken streams
        if type(error) is _Refused or isinstance(error, OSError):
            raise
        raise _Refused("The zip archive is damaged. Make a new one.") from None


def _wanted(name: str) -> bool:
    """Ordinary relative names of kept kinds; a name that climbs out is refused with a message."""
    parts = _parts(name)
    if name.startswith("/") or ".." in parts or (len(name) > 1 and name[1] == ":"):
        raise _Refused(f"{_quoted(name)} is not a relative path inside the archive.")
    if len(name) > 4 * _MAX_NAME or "\0" in name:
        raise _Refused("A file name in it is too long or not valid text.")
    if not parts or not IGNORED_FOLDERS.isdisjoint(parts):
        return False
    if parts[-1] in ("conftest.py", "sitecustomize.py", "usercustomize.py"):
        return False
    return is_wanted(parts[-1])


def _parts(name: str) -> list[str]:
    """As PurePosixPath has them."""
    return [part for part in name.split("/") if part not in ("", ".")]


def is_wanted(name: str) -> bool:
    """Return whether a file of this name, without its folder, may be of use to what is graded."""
    return splitext(name)[1].lower() in _KEPT_SUFFIXES and not name.startswith("._")


def _bounded(entries: _Entries, limits: Limits) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    bound, total = limits.submission_mib << 20, 0
    folded: dict[str, str] = {}
    folders: set[str] = set()
    for name, content, size in entries:
        name.encode("utf-8")
        total += size
        if content is None or total > bound:
            raise _Refused(
                f"It is larger than {limits.submission_mib} MiB (at {_quoted(name)}). "
                "Hand in only the files you were given."
            )
        if len(files) >= limits.submission_files:
            raise _Refused(f"It holds more than {limits.submission_files} files.")
        key = unicodedata.normalize("NFC", name).casefold()
        above = _parts(key)[:-1]
        parents = [".", *accumulate(above, "{}/{}".format)] if _parts(key) else []
        if any(p in folded for p in parents) or key in folders:
            raise _Refused(f"{_quoted(name)} is both a file and a folder in it.")
        folders.update(parents)
        if key in folded:
            raise _Refused(f"{_quoted(name)} and {_quoted(folded[key])} are the same name twice.")
        folded[key] = name
        files[name] = content
    return files


def _rooted_at_module(files: dict[str, bytes], week: Week) -> dict[str, bytes]:
    """The files below the folder that holds the week's module, wherever a zip put it."""
    places = sorted(
        (PurePosixPath(n).parent for n in files if PurePosixPath(n).name == week.module),
        key=lambda p: (len(p.parts), str(p)),
    )
    if not places:
        names = [n for n in files if n.endswith(".py")][:3]
        found = f" It holds {', '.join(_quoted(n) for n in names)}." if names else ""
        raise _Refused(f"There is no {week.module} in it.{found} Hand in your {week.module}.")
    root = places[0]
    if len(places) > 1 and len(places[1].parts) == len(root.parts):
        raise _Refused(f"There are two {week.module} in it. Hand in one.")
    below = {}
    for name, content in files.items():
        pure = PurePosixPath(name)
        if root == PurePosixPath(".") or root in pure.parents:
            below[pure.relative_to(root).as_posix()] = content
    return below


def _check_module(content: bytes, week: Week) -> None:
    if not content.strip():
        raise _Refused(f"{week.module} is empty. Did the upload go wrong?")
    if content.startswith((b"PK\x03\x04", b"\x7fELF", b"\x89PNG")):
        raise _Refused(f"{week.module} is not a text file. Hand in the Python file itself.")
    if len(content) > _MAX_MODULE:
        raise _Refused(
            f"{week.module} is larger than {_MAX_MODULE >> 10} KiB. It should hold your functions "
            "and no data."
        )
    if problem := not_text(week.module, content):
        raise _Refused(problem)
    if signs_in(content.decode("utf-8")) > MOST_SIGNS:
        raise _Refused(
            f"{week.module} holds more than {MOST_SIGNS} words, signs and lines. It should hold "
            "your functions and no data."
        )


def _quoted(name: str) -> str:
    return quoted(clean_name(name)[:80])
