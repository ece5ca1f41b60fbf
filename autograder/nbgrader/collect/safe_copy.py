"""Copying what lies in a folder that anybody may write to: ordinary files of one owner, bounded."""

from __future__ import annotations

import os
import stat
from fnmatch import fnmatch
from pathlib import Path

from ...batch.intake import is_wanted

FILE_BOUND = 64 << 20
_TOTAL_BOUND = 256 << 20
_FILES_BOUND = 2000
_DEPTH = 40  # of folders in each other
_STEP = 1 << 20


def copy_ordinary(
    source: Path, target: Path, ignored: tuple[str, ...] = (), bound: int = FILE_BOUND
) -> list[str]:
    """Copy the ordinary files of a folder; returns what was left out, and why.

    A file over the bound is not copied: nbgrader would copy it again to autograded/ and feedback/.
    """
    target.mkdir(parents=True)
    left_out: list[str] = []
    total = count = 0
    owner = os.lstat(source).st_uid
    # fwalk holds each folder open, so exchanging one for a link meanwhile changes nothing.
    for folder, folders, files, descriptor in os.fwalk(source, follow_symlinks=False):
        inside = os.path.relpath(folder, source)
        place = target / inside
        folders[:] = [f for f in sorted(folders) if not _matches(f, ignored)]
        if folders and inside.count(os.sep) >= _DEPTH:
            left_out.append(f"{inside[:80]!r}... holds too many folders in each other")
            folders.clear()
        place.mkdir(exist_ok=True)
        for name in sorted(files):
            if _matches(name, ignored):
                continue
            count += 1
            if count > _FILES_BOUND or total > _TOTAL_BOUND:
                left_out.append("it holds too much; the rest was left out")
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
    """Copy one file; returns the bytes copied and what is wrong with it, if anything."""
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(name, flags, dir_fd=folder)
    except OSError as error:
        return 0, f"was left out: it is a link or cannot be opened ({error.strerror})"
    with os.fdopen(descriptor, "rb"):
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return 0, "was left out: it is no ordinary file"
        if status.st_uid != owner:
            return 0, "was left out: it belongs to another user"
        if target.name == "timestamp.txt":
            return 0, ""  # written from the folder's name
        if status.st_size > bound and not is_wanted(name):
            size = status.st_size >> 20
            return 0, f"({size} MiB) was left in the exchange: nothing that is graded is so large"
        with target.open("wb") as copy:
            if status.st_size > bound:
                # Its size is all that grading needs to know to refuse it; it takes no room.
                copy.truncate(bound + 1)
                return 0, f"is too large ({status.st_size >> 20} MiB): its content was left out"
            return _copied(descriptor, copy.fileno(), bound), ""


def _copied(source: int, target: int, bound: int) -> int:
    """Copy up to so many bytes, in the kernel where it can: a large file is never in memory."""
    done, within = 0, hasattr(os, "copy_file_range")
    while done < bound:
        step = min(_STEP, bound - done)
        try:
            count = os.copy_file_range(source, target, step) if within else 0
        except OSError:  # between two disks, or on one that cannot
            count = 0
        if not count:
            within, data = False, os.read(source, step)
            count, left = len(data), memoryview(data)
            while left:
                left = left[os.write(target, left) :]
        if not count:
            break
        done += count
    return done
