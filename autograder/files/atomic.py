"""Replace files in one step: a reader sees the old content or the new, never a part."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

_PREFIX = ".new-"


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
