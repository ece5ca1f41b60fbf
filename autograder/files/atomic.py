"""Writing a file in one step: whoever looks, at any moment, finds the old content or the new."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from pathlib import Path

_UNFINISHED = ".new-"
_STALE_SECONDS = 600.0


def replace_file(path: Path, data: bytes, mode: int = 0o600, *, lasting: bool = True) -> None:
    """Write a file beside its final name, then move it there.

    lasting: wait for the disk, so that it is whole even after a power cut. What can be had again
    need not, if whoever reads it knows half a file when it sees one.
    """
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=_UNFINISHED)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if lasting:
                os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def sweep_unfinished(folder: Path) -> None:
    """Remove what killed processes left half written in the folders of `folder`.

    Nothing younger than ten minutes is removed: it may still be written.
    """
    for path in folder.glob(f"*/{_UNFINISHED}*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                path.unlink()
