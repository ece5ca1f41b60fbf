"""Read submissions as plain files within size limits, without executing anything.

Theory of operation. A submission is an untrusted folder, module file or zip archive. File names may
be absolute, contain `..`, collide or be invalid text. Entries may be links, pipes or devices.
Archives may expand to terabytes, list millions of entries, or need gigabytes of memory to
decompress. Only regular Python files and small data files with plain relative names are read into
memory, up to the limits in course.yaml. No files are written. If a submission breaks these rules,
it is refused with a message that explains to the student what to submit.
"""

import io
import os
import stat
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from os.path import splitext
from pathlib import Path

import msgspec

from ..model.course import Limits, Week
from ..model.message_text import quoted
from ..model.source.import_failure import not_text
from ..model.source.reachable import MAX_TOKENS, count_tokens
from ..model.submission_files import Note
from .module_name import files_in, folders_with, with_module

IGNORED_FOLDERS = {
    *("__pycache__", ".ipynb_checkpoints", ".git", "__MACOSX", ".vscode", ".idea"),
    "kept",  # where `autograder reset` saves earlier files
}
# Files with other suffixes are ignored: pytest.ini and .pth files could change how tests run.
_SUFFIXES = {".py", ".txt", ".json", ".csv", ".npy"}
_MAX_NAME = 200
_MAX_ENTRIES = 10_000
_MAX_DEPTH = 40
# Size limit of the week's module in bytes; stricter because the trusted process parses it.
_MAX_MODULE = 256 << 10
# Pairs of relative name and content. The content is None if the file is too large to read.
_Entries = Iterator[tuple[str, bytes | None]]


class Submission(msgspec.Struct, frozen=True):
    """The files of one submission.

    problem: why the submission cannot be graded, or "" if it can be graded
    notes:   problems that do not prevent grading, such as a module with a different name
    """

    name: str
    files: dict[str, bytes] = {}
    problem: str = ""
    notes: tuple[Note, ...] = ()


class Unread(Sequence[Submission]):
    """A sequence that reads each submission only when it is accessed."""

    def __init__(self, readers: Iterable[Callable[[], Submission]]) -> None:
        self._readers = tuple(readers)

    def __len__(self) -> int:
        return len(self._readers)

    def __getitem__(self, number: int) -> Submission:  # type: ignore[override]  # no slices
        return self._readers[number]()


class _Refused(Exception):
    """Raised to refuse a submission. The message is shown to the student."""


def read_submission(path: Path, week: Week, limits: Limits, name: str | None = None) -> Submission:
    """Read a folder, a module file or a zip archive; report problems in `Submission.problem`."""
    shown = clean_name(name if name is not None else path.name.removesuffix(".zip"))
    return _taken(_entries(path, week, limits), week, limits, shown)


def read_files(files: Mapping[str, bytes], week: Week, limits: Limits, name: str) -> Submission:
    """Build a submission from files in memory, with the same checks as `read_submission`."""
    entries = ((name, files[name]) for name in sorted(files) if _wanted(name))
    return _taken(entries, week, limits, clean_name(name))


def _taken(entries: _Entries, week: Week, limits: Limits, name: str) -> Submission:
    try:
        files, notes = with_module(_bounded(entries, limits), week)
        files = _rooted_at_module(files, week)
        _check_module(files[week.module], week)
        return Submission(name, files, notes=notes)
    except _Refused as refused:
        problem = str(refused)
    except OSError as error:
        problem = f"The submission cannot be read: {error.strerror or error}."
    except UnicodeError:
        problem = "A file name is not valid text. Rename the file."
    except ValueError:  # the path contains a null byte
        problem = "The submission cannot be read: its name is invalid."
    return Submission(name, problem=problem)


def clean_name(name: str) -> str:
    """Return a printable, NFC-normalised name of limited length; "unnamed" if it is empty."""
    text = name.encode("utf-8", "replace").decode("utf-8")
    text = unicodedata.normalize("NFC", text)
    return "".join(c if c.isprintable() else "�" for c in text)[:_MAX_NAME] or "unnamed"


def _entries(path: Path, week: Week, limits: Limits) -> _Entries:
    mode = os.lstat(path).st_mode
    if stat.S_ISDIR(mode):
        yield from _folder_entries(path)
    elif not stat.S_ISREG(mode):
        raise _Refused(_WRONG_KIND)
    elif path.suffix.lower() == ".zip":
        yield from _zip_entries(path, limits)
    else:
        yield week.module, _read_regular(path)


def _folder_entries(root: Path) -> _Entries:
    # Use strings for paths, because a large class has 100,000 files and Path objects are slow.
    seen, above = 0, len(str(root))
    for folder, folders, files in os.walk(str(root), followlinks=False):
        folders[:] = sorted(f for f in folders if f not in IGNORED_FOLDERS)
        seen += len(folders) + len(files)
        within = folder[above:].strip("/")
        if seen > _MAX_ENTRIES or (within and within.count("/") >= _MAX_DEPTH):
            raise _Refused("It contains too many files or folders. Submit only the week's folder.")
        for name in sorted(files):
            path = f"{folder}/{name}"
            relative = f"{within}/{name}" if within else name
            if not _wanted(relative):
                continue
            if not stat.S_ISREG(os.lstat(path).st_mode):
                raise _Refused(f"{_quoted(relative)} is a link or special file. Submit the file.")
            yield relative, _read_regular(path)


_WRONG_KIND = "The submission is not a folder, a file or a zip archive."
_READ_BOUND = 64 << 20
_ZIP_OVERHEAD = 1 << 20


def _read_regular(path: Path | str, bound: int = _READ_BOUND) -> bytes | None:
    """Read a regular file without following links; return None if it exceeds `bound` bytes."""
    flags = (getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK"))
    descriptor = os.open(path, sum(flags, os.O_RDONLY))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _Refused(_WRONG_KIND)
        content = file.read(bound + 1)
        return content if len(content) <= bound else None


def _zip_entries(path: Path, limits: Limits) -> _Entries:
    # ZipFile reads the whole table of contents, so check the archive's size first. The archive of a
    # valid submission is at most slightly larger than its files.
    content = _read_regular(path, (limits.submission_mib << 20) + _ZIP_OVERHEAD)
    if content is None:
        raise _Refused(f"The zip exceeds {limits.submission_mib} MiB. Zip only the week's folder.")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            if len(entries) > _MAX_ENTRIES:
                raise _Refused(f"The zip has {len(entries)} entries. Zip only the week's folder.")
            for info in entries:
                name = info.filename.replace("\\", "/")
                if info.is_dir() or not _wanted(name):
                    continue
                kind = stat.S_IFMT(info.external_attr >> 16)
                if kind not in (0, stat.S_IFREG):
                    raise _Refused(f"{_quoted(name)} in the zip is a link or a special file.")
                if info.file_size > _READ_BOUND:
                    yield name, None
                    continue
                if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise _Refused(
                        f"{_quoted(name)} uses an unsupported compression method. Create the zip "
                        "with your system's file manager or with `zip -r`."
                    )
                with archive.open(info) as file:
                    yield name, file.read(_READ_BOUND + 1)
    except (_Refused, OSError):
        raise
    except Exception as error:  # zipfile and zlib raise many kinds of errors for broken archives
        raise _Refused(f"The zip cannot be opened ({str(error)[:80]}). Create a new one.") from None


def _wanted(name: str) -> bool:
    """Return True if the file should be read; raise _Refused if its path is unsafe or invalid."""
    parts = parts_of_path(name)
    if name.startswith("/") or ".." in parts or (len(name) > 1 and name[1] == ":"):
        raise _Refused(f"{_quoted(name)} is not a relative path inside the archive.")
    if len(name) > 4 * _MAX_NAME or "\0" in name:
        raise _Refused("A file name is too long or not valid text.")
    if not parts or not IGNORED_FOLDERS.isdisjoint(parts):
        return False
    if parts[-1] in ("conftest.py", "sitecustomize.py", "usercustomize.py"):
        return False
    return is_wanted(parts[-1])


def parts_of_path(name: str) -> list[str]:
    """Split a path at slashes, omitting "" and "."; PurePosixPath would be slower."""
    return [part for part in name.split("/") if part not in ("", ".")]


def is_wanted(name: str) -> bool:
    """Return True if submissions may contain a file with this base name."""
    return splitext(name)[1].lower() in _SUFFIXES and not name.startswith("._")


def _bounded(entries: _Entries, limits: Limits) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    bound, total = limits.submission_mib << 20, 0
    names: list[str] = []
    for name, content in entries:
        name.encode("utf-8")
        total += len(content or b"")
        if content is None or total > bound:
            raise _Refused(
                f"The submission is larger than {limits.submission_mib} MiB (at {_quoted(name)}). "
                "Submit only the files that you were given."
            )
        if len(files) >= limits.submission_files:
            raise _Refused(f"It contains more than {limits.submission_files} files.")
        names.append(name)
        files[name] = content
    if problem := collision(names):
        raise _Refused(problem)
    return files


def collision(names: Iterable[str]) -> str:
    """Return why files with these paths cannot coexist in one folder, or "" if they can."""
    folded: dict[str, str] = {}
    folders: set[str] = set()
    for name in names:
        key = unicodedata.normalize("NFC", name).casefold()
        above = parts_of_path(key)[:-1]
        parents = [".", *accumulate(above, "{}/{}".format)] if parts_of_path(key) else []
        both = name if key in folders else next((folded[p] for p in parents if p in folded), "")
        if both:
            return f"{_quoted(both)} is both a file and a folder. Rename one of them."
        if key in folded:
            return f"{_quoted(name)} and {_quoted(folded[key])} are the same name. Rename one."
        folders.update(parents)
        folded[key] = name
    return ""


def _rooted_at_module(files: dict[str, bytes], week: Week) -> dict[str, bytes]:
    """Return the files below the outermost folder with the week's module, by relative path."""
    places = folders_with(files, week.module)
    if not places:
        names = [n for n in files if n.endswith(".py")][:3]
        found = f" It contains {', '.join(_quoted(n) for n in names)}." if names else ""
        raise _Refused(f"{week.module} is missing.{found} Submit your {week.module}.")
    if len(places) > 1 and len(places[1].parts) == len(places[0].parts):
        raise _Refused(f"It contains {week.module} twice. Submit one.")
    return files_in(files, places[0])


def _check_module(content: bytes, week: Week) -> None:
    if not content.strip():
        raise _Refused(f"{week.module} is empty. Did the upload fail?")
    if content.startswith((b"PK\x03\x04", b"\x7fELF", b"\x89PNG")):
        raise _Refused(f"{week.module} is not a text file. Submit the Python file itself.")
    if len(content) > _MAX_MODULE:
        raise _Refused(
            f"{week.module} is larger than {_MAX_MODULE >> 10} KiB. It should contain your "
            "functions and no data."
        )
    if problem := not_text(week.module, content):
        raise _Refused(problem)
    if count_tokens(content.decode("utf-8")) > MAX_TOKENS:
        raise _Refused(
            f"{week.module} contains more than {MAX_TOKENS} tokens. It should contain your "
            "functions and no data."
        )


def _quoted(name: str) -> str:
    return quoted(clean_name(name)[:80])
