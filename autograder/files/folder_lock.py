"""One process after the other, in a folder that several may write to."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def in_turn(folder: Path) -> Iterator[None]:
    """Wait until nobody else is within this for the folder; a process that dies leaves it.

    Where the disk knows no locks nobody waits.
    """
    import fcntl

    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (folder / ".turn").open("w") as lock:
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
