"""A lock on a folder that several processes may write to."""

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
