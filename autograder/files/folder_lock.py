"""Locks for folders and files that several processes may write to."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def in_turn(folder: Path) -> Iterator[None]:
    """Lock a folder, creating it if needed; the lock of a process that dies is released.

    File systems without locks are not protected.
    """
    import fcntl

    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (folder / ".turn").open("w") as lock:
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def alone(lock_file: Path, error: Exception) -> Iterator[None]:
    """Lock a file, creating it if needed; raise `error` if another process has locked it."""
    import fcntl

    lock_file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with lock_file.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise error from None
        yield
