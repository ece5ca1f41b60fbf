"""Copy regular files of one owner, up to size limits, from a folder that students can write to."""

from __future__ import annotations

import os
import stat
from fnmatch import fnmatch
from pathlib import Path
from typing import BinaryIO

from ...batch.intake import is_wanted

FILE_BOUND = 64 << 20
_TOTAL_BOUND = 256 << 20
_FILES_BOUND = 2000
_DEPTH = 40  # of nested folders
_STEP = 1 << 20


def copy_ordinary(
    source: Path, target: Path, ignored: tuple[str, ...] = (), bound: int = FILE_BOUND
) -> list[str]:
    """Copy the regular files of a folder; return a line for each file that was skipped.

    A file over the bound is not copied: nbgrader would copy it again to autograded/ and feedback/.
    """
    target.mkdir(parents=True)
    left_out: list[str] = []
    total = count = 0
    owner = os.lstat(source).st_uid
    # fwalk keeps each folder open, so replacing one by a link in the meantime has no effect.
    for folder, folders, files, descriptor in os.fwalk(source, follow_symlinks=False):
        inside = os.path.relpath(folder, source)
        place = target / inside
        folders[:] = [f for f in sorted(folders) if not _matches(f, ignored)]
        if folders and inside.count(os.sep) >= _DEPTH:
            left_out.append(f"{inside[:80]!r}... has too many nested folders")
            folders.clear()
        place.mkdir(exist_ok=True)
        for name in sorted(files):
            if _matches(name, ignored):
                continue
            count += 1
            if count > _FILES_BOUND or total > _TOTAL_BOUND:
                left_out.append("it has too many files; the rest was skipped")
                return left_out
            shown = os.path.normpath(os.path.join(inside, name))
            own = FILE_BOUND if name.endswith(".ipynb") else min(bound, FILE_BOUND)
            size, problem = _copy_file(name, descriptor, place / name, owner, own)
            total += size
            if problem:
                left_out.append(f"{shown!r} {problem}")
    return left_out


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)


def _copy_file(name: str, folder: int, target: Path, owner: int, bound: int) -> tuple[int, str]:
    """Copy one file; return the number of bytes copied, and the problem or ""."""
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(name, flags, dir_fd=folder)
    except OSError as error:
        return 0, f"was skipped: it is a link or cannot be opened ({error.strerror})"
    with os.fdopen(descriptor, "rb"):
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return 0, "was skipped: it is not a regular file"
        if status.st_uid != owner:
            return 0, "was skipped: it belongs to a different user"
        if target.name == "timestamp.txt":
            return 0, ""  # written from the folder's name
        if status.st_size > bound and not is_wanted(name):
            size = status.st_size >> 20
            return 0, f"({size} MiB) was skipped: no graded file is so large"
        with target.open("wb") as copy:
            if status.st_size > bound:
                # Grading refuses it because of its size alone; a sparse file takes no space.
                copy.truncate(bound + 1)
                return 0, f"is too large ({status.st_size >> 20} MiB): its content was skipped"
            return _copied(descriptor, copy, bound), ""


def _copied(source: int, target: BinaryIO, bound: int) -> int:
    """Copy up to `bound` bytes in steps: a large file is never in memory as a whole."""
    done = 0
    while done < bound and (data := os.read(source, min(_STEP, bound - done))):
        done += target.write(data)
    return done
