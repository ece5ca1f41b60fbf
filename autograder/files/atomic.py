"""Replace files in one step: a reader sees the old content or the new, never a part."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from pathlib import Path

_PREFIX = ".new-"
_STALE_SECONDS = 600.0


def replace_file(path: Path, data: bytes, mode: int = 0o600, *, lasting: bool = True) -> None:
    """Write a temporary file next to `path`, then rename it.

    lasting: flush to disk, so that the file survives a power failure. Not needed for data that can
    be computed again, if the reader detects an incomplete file.
    """
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=_PREFIX)
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
    """Remove temporary files of killed processes from the folders in `folder`.

    Younger files than ten minutes stay, because they may still be written.
    """
    for path in folder.glob(f"*/{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                path.unlink()
