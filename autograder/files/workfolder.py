"""A temporary folder that is gone with its process, even one that was killed.

Whoever holds the lock in a folder uses it, and the kernel takes the lock back from the dead. So the
next process to make a folder removes those that nobody holds: they contain solutions.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

_PREFIX = "autograder-work-"
_LOCK = "lock"


class WorkFolder:
    """A private folder at `path`; `close` removes it, and so does the next process."""

    def __init__(self) -> None:
        sweep()
        made = Path(tempfile.mkdtemp(prefix=f"new-{_PREFIX}"))
        self._lock = _locked(made / _LOCK)
        self.path = made.with_name(made.name.removeprefix("new-"))
        made.rename(self.path)  # only a locked folder is ever swept by this name

    def close(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def sweep() -> None:
    """Remove the folders of processes that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if folder.lstat().st_uid != os.geteuid():
                continue
            lock = _locked(folder / _LOCK)
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def _locked(path: Path) -> int | None:
    """The descriptor that holds the lock, or None if another process does."""
    try:
        import fcntl
    except ImportError:  # Windows: nothing is swept there
        return None
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
