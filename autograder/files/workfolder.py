"""Lock folders, and remove temporary folders even if their process is killed.

A process holds a lock in each folder that it uses, and the kernel releases the locks of dead
processes. The next process that creates a folder removes those without a lock, because they contain
solutions.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
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


_PREFIX = "autograder-work-"
_LOCK = "lock"


class WorkFolder:
    """A private folder at `path`. `close` removes it; otherwise the next process does."""

    def __init__(self) -> None:
        sweep()
        folder = Path(tempfile.mkdtemp(prefix=f"new-{_PREFIX}"))
        self._lock = _locked(folder / _LOCK)
        self.path = folder.with_name(folder.name.removeprefix("new-"))
        folder.rename(self.path)  # folders with this name are always locked before others see them

    def close(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def sweep() -> None:
    """Remove the folders of killed processes."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if folder.lstat().st_uid != os.geteuid():
                continue
            lock = _locked(folder / _LOCK)
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def _locked(path: Path) -> int | None:
    """Lock a file; return its descriptor, or None if another process has locked it."""
    try:
        import fcntl
    except ImportError:  # Windows: folders are not removed
        return None
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
