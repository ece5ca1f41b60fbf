"""Read one owner's regular files, within size limits, from a folder that students can write to."""

import os
import stat
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

from ...batch.intake import is_wanted
from ...lms.bulk import FilesRead
from ...model.submission_files import TIMESTAMP_FILE

_FILE_BOUND = 64 << 20
_TOTAL_BOUND = 256 << 20
_FILES_BOUND = 2000
_DEPTH = 40  # maximum depth of nested folders


def read_ordinary(
    source: Path, ignored: Sequence[str] = (), bound: int = _FILE_BOUND, *, any_owner: bool = False
) -> FilesRead:
    """Return the regular files of a folder by name, and a line for each skipped file.

    ignored: patterns of file and folder names to skip silently. bound: size limit in bytes for
    all files except notebooks, because nbgrader copies the files to autograded/ and feedback/.
    any_owner: also read files that do not belong to the owner of the folder
    """
    found: dict[str, bytes] = {}
    left_out: list[str] = []
    total = count = 0
    owner = None if any_owner else os.lstat(source).st_uid
    # fwalk keeps each folder open, so a student cannot swap the folder for a link meanwhile.
    for folder, folders, files, descriptor in os.fwalk(source, follow_symlinks=False):
        inside = os.path.relpath(folder, source)
        folders[:] = [f for f in sorted(folders) if not _matches(f, ignored)]
        if folders and inside.count(os.sep) >= _DEPTH:
            left_out.append(f"{inside[:80]!r}... has too many nested folders")
            folders.clear()
        for name in sorted(files):
            if _matches(name, ignored) or name == TIMESTAMP_FILE:
                continue
            count += 1
            if count > _FILES_BOUND or total > _TOTAL_BOUND:
                left_out.append("it has too many files; the rest was skipped")
                return found, left_out
            shown = os.path.normpath(os.path.join(inside, name))
            own = _FILE_BOUND if name.endswith(".ipynb") else min(bound, _FILE_BOUND)
            content, problem = _read_file(name, descriptor, owner, own)
            if content is not None:
                found[shown] = content
                total += len(content)
            if problem:
                left_out.append(f"{shown!r} {problem}")
    return found, left_out


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)


def _read_file(name: str, folder: int, owner: int | None, bound: int) -> tuple[bytes | None, str]:
    """Return the content (None if the file was skipped) and the problem ("" if there is none)."""
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(name, flags, dir_fd=folder)
    except OSError as error:
        return None, f"was skipped: it is a link or cannot be opened ({error.strerror})"
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None, "was skipped: it is not a regular file"
        if owner not in (None, status.st_uid):
            return None, "was skipped: it belongs to a different user"
        size = status.st_size >> 20
        if status.st_size > bound and not is_wanted(name):
            return None, f"({size} MiB) was skipped: no graded file is so large"
        if status.st_size > bound:  # a placeholder that the intake refuses as too large
            return bytes(bound + 1), f"is too large ({size} MiB): its content was skipped"
        return file.read(bound), ""
